"""mcp-use: `client.py URL [READ WRITE ARGUMENTS]` or `client.py URL FOLDER`. Its adapter makes a class of
every input schema and sends null for each argument that is left out. READ is a
tool without required arguments; WRITE asks for consent to its call with
ARGUMENTS, and gets it. FOLDER (names, cycles) has a call whose arguments have to arrive
as they were meant."""

import asyncio
import json
import pathlib
import sys

from mcp_use import MCPClient
from mcp_use.agents.adapters.langchain_adapter import LangChainAdapter


def said(answer):
    """What came, as the model reads it."""
    if isinstance(answer, list):
        answer = answer[0]
    if isinstance(answer, dict):
        answer = answer.get("text", answer)
    # Texts behind the answer, joined to it by the adapter, are for the model.
    return json.JSONDecoder().raw_decode(answer)[0] if isinstance(answer, str) else answer


async def main(url, read=None, write=None, arguments="{}"):
    client = MCPClient({"mcpServers": {"tenon": {"url": url}}})
    try:
        adapter = LangChainAdapter()
        await adapter.create_all(client)
        tools = {t.name: t for t in adapter.tools}
        assert tools, "no tools"
        ends = ""
        if read and not write:
            sys.path.append(str(pathlib.Path(__file__).parent.parent / read))
            import sent

            sent.check(said(await tools[sent.TOOL].ainvoke(sent.ARGUMENTS))["data"])
            ends = f", the arguments of {sent.TOOL} arrive"
        elif read:
            came = said(await tools[read].ainvoke({}))
            assert came["type"] == "api_response", came
            arguments = json.loads(arguments)
            asked = said(await tools[write].ainvoke(arguments))
            assert asked["type"] == "confirmation_request", asked
            came = said(await tools[write].ainvoke(arguments | {"confirmed": True}))
            assert came["type"] == "api_response", came
            ends = f", {read} answered, {write} asked and was confirmed"
        print(f"ok   mcp-use: {len(tools)} tools{ends}")
    finally:
        await client.close_all_sessions()


asyncio.run(main(*sys.argv[1:]))
