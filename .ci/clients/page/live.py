"""Runs the Python client in FILE against BASE: `live.py FILE BASE`. A line of
JSON {tool, args, says} is a call; the line that goes back tells what came of it,
and what the last answer was. The client's own text is not changed: requests and
input are what it finds in their place."""

import json
import sys

import requests

source, base = sys.argv[1], sys.argv[2]
last = {}
says = None


def post(url, *args, **kwargs):
    response = real_post(url.replace("http://localhost:8080", base), *args, **kwargs)
    last.clear()
    last.update(response.json().get("result", {}))
    return response


def answer(prompt):
    assert prompt, "nothing was asked"
    return "Y" if says else "n"


real_post, requests.post = requests.post, post
given = {"input": answer, "print": lambda *words: None}
with open(source) as file:
    exec(compile(file.read(), source, "exec"), given)

for line in sys.stdin:
    call = json.loads(line)
    says = call.get("says")
    try:
        came = {"data": given["call_tool"](call["tool"], call.get("args", {}))}
    except Exception as e:
        came = {"thrown": str(e)}
    print(json.dumps({**came, "last": last}), flush=True)
