"""FastMCP: `client.py list URL COUNT` lists a large catalog. `client.py URL PATH [ITEMS]`: Its `result.data` is made of the root
properties of the published output schema. PATH leads to the payload in it, ITEMS
(PATH by default) to that of a list: the book of getBook has to be there with
its members, and of searchBooks each item."""

import asyncio
import sys

from fastmcp import Client


def member(value, name):
    return value[name] if isinstance(value, dict) else getattr(value, name)


def payload(data, path):
    for name in path.split("."):
        if name:
            data = member(data, name)
    return data


async def main(url, path, items=None):
    async with Client(url) as client:
        book = await client.call_tool("getBook", {"bookId": "b1001"})
        assert book.data is not None, "no data"
        got = payload(book.data, path)
        assert not isinstance(got, dict), "the book has no type"
        assert member(got, "id") == "b1001" and member(got, "title") == "Pride and Prejudice", got
        assert member(member(got, "authors")[0], "name") == "Jane Austen", got
        books = await client.call_tool("searchBooks", {"tags": ["sea"]})
        found = payload(books.data, path if items is None else items)
        assert found and all(member(b, "id").startswith("b") for b in found), found
        print(f"ok   FastMCP: a typed payload at {path or 'the root'}, {len(found)} items")


async def listed(url, count):
    async with Client(url) as client:
        tools = await client.list_tools()
        assert len(tools) == int(count), f"{len(tools)} tools"
        print(f"ok   FastMCP: {count} tools listed")


if sys.argv[1] == "list":
    asyncio.run(listed(*sys.argv[2:]))
else:
    asyncio.run(main(*sys.argv[1:]))
