"""compare.py PYTHON BINARY: the tools of server.py, served by the Python SDK,
and those of main.go, served by tenon, field by field: what tools/list says of
each and what tools/call answers, by the plain messages of the protocol.

They may differ in what DIFFERENCES names and in nothing else; a difference
that no longer occurs fails, too."""

import importlib.metadata
import json
import pathlib
import subprocess
import sys

CALLS = {
    "get_temperature": [{"city": "London"}, {}, {"city": 7}],
    "get_weather": [{"city": "London"}],
    "get_weather_dict": [{"city": "London"}],
    "get_weather_data": [{"city": "London"}],
    "get_weather_class": [{"city": "London"}],
    "get_details": [{"name": "Kew"}],
    "get_forecast": [{"city": "London", "days": 2}, {"city": "London", "days": 0}],
    "get_temperatures": [{"cities": ["London", "Reykjavik"]}],
    "get_upstream": [{"city": "London"}],
    "fail": [{"city": "Rome"}],
    "search": [
        {"city": "London"},
        {"city": "London", "days": 14, "unit": "f", "where": {"lat": 51.5, "lon": 0}},
        {"city": "London", "where": None},
        {"city": "London", "days": 15},
        {"city": "London", "unit": "k"},
    ],
    "weather_report": [{"city": "London"}],
    "get_station": [{"name": "Kew"}],
}
# What tenon's errors must name.
NAMED = {"get_temperature": ["city"], "get_upstream": ["humidity"], "fail": ["there is no station in Rome"], "search": ["days", "unit"]}
ABSENT = "(absent)"


class Server:
    """One server on stdio, spoken to as a client of 2025-11-25."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.id = 0
        info = {"name": "compare", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.id += 1
        self.send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit(f"the server ended at {method}")
            message = json.loads(line)
            if message.get("id") == self.id:
                return message["result"] if "result" in message else {"(protocol error)": message["error"]}

    def tools(self):
        return {tool["name"]: tool for tool in self.request("tools/list", {})["tools"]}

    def call(self, name, arguments):
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        result.setdefault("isError", False)  # the default of the protocol
        return result

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


def differences(python, tenon, path=""):
    """Yields (path, python's value, tenon's value)."""
    if isinstance(python, dict) and isinstance(tenon, dict):
        for key in python | tenon:
            yield from differences(python.get(key, ABSENT), tenon.get(key, ABSENT), f"{path}/{key}")
        if path.endswith("/properties") and list(python) != list(tenon):
            yield f"{path} (order)", list(python), list(tenon)
    elif isinstance(python, list) and isinstance(tenon, list) and len(python) == len(tenon):
        for i, (a, b) in enumerate(zip(python, tenon)):
            yield from differences(a, b, f"{path}/{i}")
    elif type(python) is not type(tenon) or python != tenon:
        yield path, python, tenon


def error_words(tool, path, python, tenon):
    """The SDK says no more than which tool failed, or what its validator has
    to say; tenon names the place, the caller's mistake or what went wrong."""
    begin = f"Error executing tool {tool}"
    named = any(name in str(tenon) for name in NAMED.get(tool, ()))
    return path.endswith("/content/0/text") and named and python.startswith(begin) and tenon.startswith(begin + ": ")


def silent(tool, path, python, tenon):
    """Types for which the SDK gives up without a word, and answers text."""
    if tool == "get_station":
        return tenon == ABSENT or path.startswith("call")
    if tool in ("get_time", "get_sky"):
        return python == ABSENT and path.endswith(("/outputSchema", "/structuredContent")) or python == json.dumps(tenon)
    return tool == "get_weather_class" and path.endswith("/text") and "WeatherData object at" in python


def pointer(tool, path, python, tenon):
    """Go hands a struct over by pointer, and nil is then an error; the SDK
    wraps what may be None, which a Go function says with an optional field."""
    return tool == "get_maybe_weather" and ("/outputSchema" in path or "/structuredContent" in path)


# All that may differ, with the reason.
DIFFERENCES = {
    "the silent opt-out: a type that declares nothing is refused, a time and an enum have schemas, no text is a repr": silent,
    "number bounds: a sized integer says its bounds": lambda tool, path, python, tenon: tool == "count_drops"
    and path.rpartition("/")[2] in ("minimum", "maximum")
    and python == ABSENT,
    "_meta: what is said of the contract": lambda tool, path, python, tenon: path.endswith("/_meta/tenon/contract")
    or path.endswith("/_meta")
    and python == ABSENT
    and list(tenon) == ["tenon/contract"],
    "closed arguments: an unknown one is refused, not ignored": lambda tool, path, python, tenon: "/inputSchema" in path
    and path.endswith("/additionalProperties")
    and (python, tenon) == (ABSENT, False),
    "no description: left out, not empty": lambda tool, path, python, tenon: (path, python, tenon) == ("list/description", "", ABSENT),
    "bytes: base64 says so and is one": lambda tool, path, python, tenon: tool == "get_bytes" and path.startswith(("list/outputSchema", "call 0/")),
    "keys of numbers: their pattern is said": lambda tool, path, python, tenon: tool == "get_by_hour" and path.endswith("/propertyNames") and python == ABSENT,
    "a pointer to a struct: the struct, not something that may be null": pointer,
    "words of errors: each its own, tenon names the field": error_words,
}


def main():
    python_command, binary = sys.argv[1:]
    folder = pathlib.Path(__file__).parent
    python, tenon = Server([python_command, str(folder / "server.py")]), Server([binary])
    tools = python.tools(), tenon.tools()
    refused = subprocess.run([binary, "refused"], capture_output=True, text=True, check=True).stdout
    if "get_station: result: main.mute: no exported fields" not in refused:
        sys.exit(f"get_station was not refused: {refused}")
    seen, wrong, calls = dict.fromkeys(DIFFERENCES, 0), 0, 0
    for name in tools[0] | tools[1]:
        found = [("list" + p, a, b) for p, a, b in differences(*(t.get(name, ABSENT) for t in tools))]
        for i, arguments in enumerate(CALLS.get(name, [{}])):
            answers = python.call(name, arguments), tenon.call(name, arguments)
            found += [(f"call {i}{p}", a, b) for p, a, b in differences(*answers)]
            calls += 1
        for path, a, b in found:
            allowed = [reason for reason, rule in DIFFERENCES.items() if rule(name, path, a, b)]
            for reason in allowed:
                seen[reason] += 1
            if not allowed:
                wrong += 1
                print(f"DIFFERENT {name} {path}\n    python {json.dumps(a)}\n    tenon  {json.dumps(b)}")
    python.close()
    tenon.close()
    for reason, times in seen.items():
        print(f"{times:4} {reason}")
        if times == 0:
            wrong += 1
            print("     does not occur: take it off the list")
    version = importlib.metadata.version("mcp")
    print(f"{len(tools[0])} tools, {calls} calls, compared with mcp {version}: {wrong} differences that nobody allowed")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
