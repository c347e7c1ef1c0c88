"""An API that returns one value of each kind. It says where it listens."""

import http.server
import json

OBJECT = {"id": 12, "name": "ü \"quoted\"", "none": None, "ratio": 0.25, "inner": {"yes": True}}
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
VALUES = {"/object": OBJECT, "/list": ["a", None, "b"], "/number": 2.5, "/text": "42", "/null": None}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/picture":
            self.answer(200, "image/png", PICTURE)
        elif path == "/error":
            self.answer(404, "application/json", b'{"message":"there is none"}')
        else:
            value = {"query": query} if path == "/echo" else VALUES[path]
            self.answer(200, "application/json", json.dumps(value).encode())

    def answer(self, status, media, body):
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
