"""FastMCP: `fastmcp_data.py URL PATH`. Its `result.data` is made of the root
properties of the published output schema. PATH leads to the payload in it; the
payload of getBook has to be there, with its members, and of searchBooks each
item."""

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


def kind(value):
    return "untyped" if isinstance(value, dict) else "typed"


async def main(url, path, wrapped=""):
    async with Client(url) as client:
        book = await client.call_tool("getBook", {"bookId": "b1001"})
        assert book.data is not None, "no data"
        got = payload(book.data, path)
        assert member(got, "id") == "b1001" and member(got, "title") == "Pride and Prejudice", got
        assert member(member(got, "authors")[0], "name") == "Jane Austen", got
        books = await client.call_tool("searchBooks", {"tags": ["sea"]})
        items = payload(books.data, wrapped or path)
        assert items and all(member(b, "id").startswith("b") for b in items), items
        print(f"ok   FastMCP: {kind(got)} payload at data.{path or '(root)'}, {len(items)} {kind(items[0])} items")


asyncio.run(main(*sys.argv[1:]))
