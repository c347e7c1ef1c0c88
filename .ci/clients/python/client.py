"""The Python SDK: `client.py demo MODE URL` or `client.py stdio MODE COMMAND ARGUMENT...`,
where MODE is legacy, auto or a revision of the protocol. It makes the calls of
cases.json; the SDK checks every structured answer against the output schema
that the tool published."""

import asyncio
import base64
import hashlib
import json
import os
import pathlib
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

ABSENT = object()


def pointer(value, path):
    for step in path.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return ABSENT
    return value


def fits(got, want):
    if not isinstance(want, dict):
        return type(got) is type(want) and got == want
    return all(CONDITIONS[name](got, value) for name, value in want.items())


CONDITIONS = {
    "absent": lambda got, _: got is ABSENT,
    "type": lambda got, t: isinstance(got, {"string": str, "number": (int, float)}[t]),
    "length": lambda got, n: isinstance(got, (str, list)) and len(got) == n,
    "starts": lambda got, text: isinstance(got, str) and got.startswith(text),
    "contains": lambda got, texts: isinstance(got, str) and all(t in got for t in texts),
    "members": lambda got, names: isinstance(got, dict) and all(isinstance(got.get(n), str) for n in names),
    "includes": lambda got, items: isinstance(got, list)
    and all(any(isinstance(x, dict) and i.items() <= x.items() for x in got) for i in items),
}


def fill(value, saved):
    if isinstance(value, str) and value.startswith("$"):
        return saved[value[1:]]
    if isinstance(value, dict):
        return {k: fill(v, saved) for k, v in value.items()}
    if isinstance(value, list):
        return [fill(v, saved) for v in value]
    return value


def show(value):
    text = "nothing" if value is ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else text[:300] + "…"


def copies(result):
    """The text says the same as the structure, and binary data is the bytes that it describes."""
    structure = result["structuredContent"]
    if json.loads(result["content"][0]["text"]) != structure:
        yield "the text copy differs from the structure"
    data = structure.get("data")
    if isinstance(data, dict) and "sha256" in data:
        body = base64.b64decode(result["content"][data["block"]]["data"])
        if (len(body), hashlib.sha256(body).hexdigest()) != (data["bytes"], data["sha256"]):
            yield f"block {data['block']} is not the bytes described by {show(data)}"


def judge(outcome, case):
    want = case.get("outcome", "result")
    came = "protocol error" if "error" in outcome else "tool error" if outcome["isError"] else "result"
    if came != want:
        yield f"expected a {want}, got a {came}: {show(outcome.get('error') or outcome['structuredContent'])}"
        return
    if "error" not in outcome:
        yield from copies(outcome)
    for at, expected in case.get("expect", {}).items():
        got = pointer(outcome, at)
        if not fits(got, expected):
            yield f"{at}: expected {show(expected)}, got {show(got)}"


async def list_tools(client):
    tools, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return tools


async def call(client, case, saved):
    try:
        r = await client.call_tool(case["tool"], fill(case.get("arguments"), saved))
    except MCPError as e:
        return {"error": {"code": e.error.code, "message": e.error.message}}
    except RuntimeError as e:  # the answer does not fit the schema that was listed
        return {"error": {"code": None, "message": str(e)}}
    return {
        "isError": bool(r.is_error),
        "content": [b.model_dump(mode="json", by_alias=True, exclude_none=True) for b in r.content],
        "structuredContent": r.structured_content,
        "_meta": r.meta,
    }


async def main(where, mode, target, quiet):
    server = target[0]
    if where == "stdio":
        server = stdio_client(StdioServerParameters(command=target[0], args=target[1:]), errlog=quiet)
    table = json.loads((pathlib.Path(__file__).parent.parent / "cases.json").read_text())
    chosen = [c for c in table if c.get("only", where) in (where, "python")]
    faults, saved = [], {}
    async with Client(server, mode=mode) as client:
        names = [t.name for t in await list_tools(client)]
        for case in chosen:
            outcome = await call(client, case, saved)
            if case.get("consent"):
                asked = (outcome.get("structuredContent") or {}).get("type")
                if asked != "confirmation_request":
                    faults.append(f"{case['tool']}, {case['name']}: expected a request for consent, got {show(asked)}")
                case = case | {"arguments": case["arguments"] | {"confirmed": True}}
                outcome = await call(client, case, saved)
            for name, at in case.get("save", {}).items():
                got = pointer(outcome, at)
                saved[name] = None if got is ABSENT else got
            faults += [f"{case['tool']}, {case['name']}: {f}" for f in judge(outcome, case)]
        revision = client.protocol_version
    missed = set(names) - {c["tool"] for c in chosen}
    if missed:
        faults.append(f"not called: {', '.join(sorted(missed))}")
    door = "stdio" if where == "stdio" else "HTTP"
    print(f"{'FAIL' if faults else 'ok  '} Python SDK 2, {revision}, over {door}: {len(names)} tools, {len(chosen)} calls")
    for f in faults:
        print(f"     {f}")
    return 1 if faults else 0


if __name__ == "__main__":
    with open(os.devnull, "w") as quiet:  # for what a server on stdio says of itself
        sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:], quiet)))
