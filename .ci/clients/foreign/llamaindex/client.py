"""LlamaIndex: `client.py URL [READ WRITE ARGUMENTS]` or `client.py URL FOLDER`. It makes a class of
every input schema that it lists, and one that it cannot make costs the whole
list. READ is a tool without required arguments; WRITE asks for consent to its
call with ARGUMENTS. A session lasts for one call here, so that the confirmation
that follows is another caller's: it has to be understood all the same. FOLDER
(names, cycles) has a call whose arguments have to arrive as they were meant."""

import asyncio
import json
import pathlib
import sys

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


def said(output):
    result = output.raw_output
    structure = getattr(result, "structured_content", None) or getattr(result, "structuredContent", None)
    return structure or json.loads(result.content[0].text)


async def main(url, read=None, write=None, arguments="{}"):
    tools = {t.metadata.name: t for t in await McpToolSpec(client=BasicMCPClient(url)).to_tool_list_async()}
    assert tools, "no tools"
    fields = {n: sorted(t.metadata.fn_schema.model_fields) for n, t in tools.items()}
    wrong = [n for n, names in fields.items() if any(f.startswith("_") for f in names)]
    assert not wrong, f"names with an underscore: {wrong[:5]}"
    ends = ""
    if read and not write:
        sys.path.append(str(pathlib.Path(__file__).parent.parent / read))
        import sent

        sent.check(said(await tools[sent.TOOL].acall(**sent.ARGUMENTS))["data"])
        ends = f", the arguments of {sent.TOOL} arrive"
    elif read:
        came = said(await tools[read].acall())
        assert came["type"] == "api_response", came
        assert "confirmed" in fields[write], fields[write]
        for args in json.loads(arguments), json.loads(arguments) | {"confirmed": True}:
            asked = said(await tools[write].acall(**args))
            assert asked["type"] == "confirmation_request", asked
        ends = f", {read} answered, {write} asked for consent"
    print(f"ok   LlamaIndex: {len(tools)} tools{ends}")


asyncio.run(main(*sys.argv[1:]))
