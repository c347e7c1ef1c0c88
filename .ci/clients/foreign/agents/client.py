"""Frameworks for agents, and what each hands its user of a structured value.

`client.py values URL ENVELOPE` calls the tools of values/openapi.json, whose values
upstream.py has: objects, lists, scalars, null, a picture, an error. They have to come
back exactly. `client.py list URL COUNT` lists a large catalog with each. `client.py
strict URL COUNT` makes strict functions of all its tools, and `client.py strict-values
URL` calls one as a strict model does, with null for what it does not mean."""

import asyncio
import json
import logging
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "values"))
import upstream  # noqa: E402

from agents import Agent  # noqa: E402
from agents.mcp import MCPServerStreamableHttp, MCPUtil  # noqa: E402
from agents.run_context import RunContextWrapper  # noqa: E402
from agents.tool_context import ToolContext  # noqa: E402
from langchain_mcp_adapters.client import MultiServerMCPClient  # noqa: E402
from pydantic_ai.mcp import MCPToolset  # noqa: E402
from pydantic_ai.messages import BinaryContent  # noqa: E402

logging.disable(logging.WARNING)

WANTED = {f"get_{path[1:]}": value for path, value in upstream.VALUES.items()}


def payload(structured, envelope):
    """The value in structured content, which an envelope is around."""
    if envelope == "native" and set(structured) == {"result"}:
        return structured["result"]
    return structured if envelope == "native" else structured["data"]


def check(library, tool, got, want):
    assert got == want and type(got) is type(want), f"{library}, {tool}: {got!r}, not {want!r}"


def agents_server(url):
    return MCPServerStreamableHttp(params={"url": url}, use_structured_content=True, client_session_timeout_seconds=120)


async def functions(server):
    return await MCPUtil.get_function_tools(server, True, RunContextWrapper(None), Agent(name="agent"))


async def invoked(tool, args):
    text = json.dumps(args)
    return await tool.on_invoke_tool(ToolContext(None, tool_name=tool.name, tool_call_id="1", tool_arguments=text), text)


def nothing(tool):
    """Arguments of a strict function that mean nothing."""
    return dict.fromkeys(tool.params_json_schema.get("required", []))


async def openai_agents(url, envelope):
    async with agents_server(url) as server:
        tools = {t.name: t for t in await functions(server)}
        for name, want in WANTED.items():
            check("openai-agents", name, payload(json.loads(await invoked(tools[name], nothing(tools[name]))), envelope), want)
        error = await invoked(tools["get_error"], nothing(tools["get_error"]))
        assert "there is none" in str(error), error
        picture = payload(json.loads(await invoked(tools["get_picture"], nothing(tools["get_picture"]))), envelope)
        assert picture["bytes"] == len(upstream.PICTURE), picture


async def pydantic_ai(url, envelope):
    async with MCPToolset(url, tool_error_behavior="error") as tools:
        for name, want in WANTED.items():
            got = await tools.direct_call_tool(name, {})
            check("pydantic-ai", name, got if envelope == "native" else got["data"], want)
        picture = await tools.direct_call_tool("get_picture", {})
        parts = [p for p in picture if isinstance(p, BinaryContent)] if isinstance(picture, list) else []
        assert [p.data for p in parts] == [upstream.PICTURE], f"pydantic-ai: {picture!r}"
        try:
            failed = await tools.direct_call_tool("get_error", {})
            raise AssertionError(f"pydantic-ai: the error is {failed!r}")
        except Exception as e:
            assert "there is none" in str(e), e


async def langchain(url, envelope):
    tools = {t.name: t for t in await MultiServerMCPClient({"s": {"transport": "streamable_http", "url": url}}).get_tools()}

    async def called(name):
        return await tools[name].ainvoke({"type": "tool_call", "id": "1", "name": name, "args": {}})

    for name, want in WANTED.items():
        message = await called(name)
        check("langchain", name, payload(message.artifact["structured_content"], envelope), want)
    picture = await called("get_picture")
    assert any(b["type"] == "image" for b in picture.content), picture.content
    error = await called("get_error")
    assert error.status == "error" and "there is none" in str(error.content), error


async def values(url, envelope):
    for library in (openai_agents, pydantic_ai, langchain):
        await library(url, envelope)
        print(f"ok   {library.__name__}: {len(WANTED)} values, a picture and an error in the envelope {envelope}")


async def listed(url, count):
    async with agents_server(url) as server:
        tools = await server.list_tools()
        assert len(tools) == int(count), f"openai-agents: {len(tools)} tools"
    async with MCPToolset(url) as server:
        tools = await server.list_tools()
        assert len(tools) == int(count), f"pydantic-ai: {len(tools)} tools"
    tools = await MultiServerMCPClient({"s": {"transport": "streamable_http", "url": url}}).get_tools()
    assert len(tools) == int(count), f"langchain: {len(tools)} tools"
    print(f"ok   openai-agents, pydantic-ai, langchain: {count} tools listed")


async def strict(url, count):
    async with agents_server(url) as server:
        tools = await functions(server)
    loose = [t.name for t in tools if not t.strict_json_schema]
    assert len(tools) == int(count) and not loose, f"{len(tools)} tools, not strict: {loose[:5]} and {len(loose)} in all"
    print(f"ok   openai-agents: {count} strict functions")


async def strict_values(url):
    async with agents_server(url) as server:
        tools = {t.name: t for t in await functions(server)}
        for args, want in (({"must": "a b"}, "must=a%20b"), ({"must": "x", "may": 7, "many": ["p", "q"]}, "must=x&may=7&many=p&many=q")):
            got = json.loads(await invoked(tools["echo"], nothing(tools["echo"]) | args))
            assert got.get("data", got)["query"] == want, got
    print("ok   openai-agents: null is absent for a strict function")


asyncio.run({"values": values, "list": listed, "strict": strict, "strict-values": strict_values}[sys.argv[1]](*sys.argv[2:]))
