"""LlamaIndex: `llamaindex.py URL [TOOL ARGUMENTS]`. It makes a class of every
input schema that it lists, and one that it cannot make costs the whole list. The
tool is called with the arguments, then once more with the confirmation by the
name that is published."""

import asyncio
import json
import sys

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


def said(output):
    result = output.raw_output
    structure = getattr(result, "structured_content", None) or getattr(result, "structuredContent", None)
    return structure or json.loads(result.content[0].text)


async def main(url, name=None, arguments="{}"):
    tools = {t.metadata.name: t for t in await McpToolSpec(client=BasicMCPClient(url)).to_tool_list_async()}
    assert tools, "no tools"
    fields = {n: sorted(t.metadata.fn_schema.model_fields) for n, t in tools.items()}
    wrong = [n for n, names in fields.items() if any(f.startswith("_") for f in names)]
    assert not wrong, f"names with an underscore: {wrong[:5]}"
    ends = ""
    if name:
        arguments = json.loads(arguments)
        asked = said(await tools[name].acall(**arguments))
        assert asked["type"] == "confirmation_request", asked
        assert "confirmed" in fields[name], fields[name]
        came = said(await tools[name].acall(**arguments, confirmed=True))
        assert came["type"] == "api_response", came
        ends = f", {name} asked and was confirmed"
    print(f"ok   LlamaIndex: {len(tools)} tools{ends}")


asyncio.run(main(*sys.argv[1:]))
