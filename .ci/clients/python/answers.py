"""What the Python SDK sees of structured answers: `answers.py MODE URL` or
`answers.py MODE stdio COMMAND ARGUMENT...`. Names of tools come on standard
input; each is called and what came back, or what was thrown, is written as one
line of JSON. The tools are listed first, because the SDK then checks every
answer against the schema that was published."""

import asyncio
import json
import os
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client


async def see(client, name):
    try:
        r = await client.call_tool(name, {})
    except (MCPError, RuntimeError) as e:
        return {"case": name, "thrown": str(e)}
    seen = {"case": name, "isError": bool(r.is_error), "meta": r.meta}
    if "structured_content" in r.model_fields_set:
        seen["structured"] = r.structured_content
    return seen


async def main(mode, target, names, quiet):
    server = target[0]
    if server == "stdio":
        server = stdio_client(StdioServerParameters(command=target[1], args=target[2:]), errlog=quiet)
    async with Client(server, mode=mode) as client:
        cursor = None
        while True:
            page = await client.list_tools(cursor=cursor)
            cursor = page.next_cursor
            if cursor is None:
                break
        for name in names:
            print(json.dumps(await see(client, name)))


if __name__ == "__main__":
    with open(os.devnull, "w") as quiet:  # for what a server on stdio says of itself
        asyncio.run(main(sys.argv[1], sys.argv[2:], sys.stdin.read().split("\n"), quiet))
