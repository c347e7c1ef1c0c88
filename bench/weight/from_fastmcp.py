"""Prints the tool list that FastMCP makes of an OpenAPI document."""

import asyncio
import json
import sys

import httpx2
from fastmcp import Client, FastMCP


async def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        document = json.load(f)
    upstream = httpx2.AsyncClient(base_url="http://127.0.0.1:9")
    async with Client(FastMCP.from_openapi(document, client=upstream)) as client:
        tools = await client.list_tools()
    print(json.dumps([t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in tools], ensure_ascii=False, separators=(",", ":")))


asyncio.run(main())
