"""What azure-functions expects of the Functions runtime, and no more.

    core.py emit DIR   writes DIR as the folder of the app
    core.py            serves the custom handler protocol

The functions, what they are described as and what becomes of their results is
the library's matter; the names and results are the program's.
"""

import asyncio
import inspect
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from azure.functions import meta

sys.dont_write_bytecode = True
from app import app  # the program

functions = {f.get_function_name(): f for f in app.get_functions()}


def emit(folder):
    for name, f in functions.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "function.json").write_text(f.get_function_json())
    host = {
        "version": "2.0",
        "customHandler": {"description": {"defaultExecutablePath": sys.executable, "arguments": [str(Path(__file__).resolve())]}},
    }
    (folder / "host.json").write_text(json.dumps(host))


def peel(value):
    for _ in range(2):
        if isinstance(value, str):
            value = json.loads(value)
    return value if isinstance(value, str) else json.dumps(value)


def invoke(f, body):
    """Decodes and encodes by the library's own converter of the trigger."""
    trigger = f.get_trigger()
    converter = meta.get_binding_registry().get(trigger.type)
    data = peel(body["Data"][trigger.name])
    value = converter.decode(meta.Datum(data, "string"), trigger_metadata=None)
    call = f.get_user_function()
    result = call(**{trigger.name: value})
    if inspect.isawaitable(result):
        result = asyncio.run(result)
    out = converter.encode(result, expected_type=None)
    return {"Outputs": {}, "Logs": [], "ReturnValue": None if out is None else out.value}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(404, "text/plain", "")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            self.answer(200, "application/json", json.dumps(invoke(functions[self.path[1:]], body)))
        except Exception as err:
            self.answer(500, "text/plain", str(err))

    def answer(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


if sys.argv[1:2] == ["emit"]:
    emit(Path(sys.argv[2]))
else:
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["FUNCTIONS_CUSTOMHANDLER_PORT"])), Handler).serve_forever()
