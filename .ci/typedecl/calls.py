"""calls.py calls tools of the demo by the functions that 'tenon types' wrote of it, and
looks at what comes: calls.py URL."""

import asyncio
import sys
from collections.abc import Awaitable
from typing import cast

import shop
from tenon_runtime import ToolError, connect


async def failure(call: Awaitable[object]) -> ToolError:
    try:
        await call
    except ToolError as error:
        return error
    raise AssertionError("the call did not fail")


async def main(url: str) -> None:
    async with connect(url) as server:
        page = await shop.listBooks(server, {"limit": 2})
        last = page["items"][1]
        assert len(page["items"]) == 2
        book = await shop.getBook(server, {"bookId": last["id"]})
        assert book["title"] == last["title"]

        e = await failure(shop.getBook(server, {"bookId": "b9999"}))
        assert (e.tool, e.code, e.executed, e.retry, e.status) == ("getBook", "not_found", "yes", "safe", 404)
        e = await failure(shop.listBooks(server, {"limit": cast(int, "many")}))
        assert (e.code, e.executed, e.retry) == ("validation_error", "no", "safe")
        e = await failure(shop.deleteBook(server, {"bookId": last["id"]}))
        assert (e.code, e.executed) == ("confirmation_required", "no"), (e.code, e)
        e = await failure(server.call("noSuchTool", {}, ""))
        assert (e.code, e.executed, e.retry) == ("not_found", "no", "safe"), (e.code, e)
        e = await failure(shop.getStock(server, {"bookId": "b1007"}))
        assert (e.code, e.executed, e.retry) == ("contract_violation", "yes", "safe")
        violated = e.data
    async with connect(url, violations="deliver") as server:
        assert await shop.getStock(server, {"bookId": "b1007"}) == violated

    questions: list[str] = []

    async def agree(message: str) -> bool:
        questions.append(message)
        return True

    async with connect(url, confirm=agree) as server:
        await shop.deleteBook(server, {"bookId": last["id"]})
        assert len(questions) == 1, questions
        assert (await failure(shop.getBook(server, {"bookId": last["id"]}))).code == "not_found"
    print("ok Python: the functions call")


asyncio.run(main(sys.argv[1]))
