"""Runtime of the functions that 'tenon types' writes: it calls tools of any MCP server
through the official client. Needs the package mcp 2.0 or later.

    async with connect("http://127.0.0.1:8080/mcp") as server:
        issues = await github.issues_list(server, {"owner": "acme"})
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, cast

import httpx2
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client

#: tenon's codes; other servers, and authors of tools, have codes of their own.
ErrorCode = Literal[
    "validation_error",
    "authentication_error",
    "authorization_error",
    "not_found",
    "conflict",
    "rate_limited",
    "timeout",
    "request_error",
    "server_error",
    "network_error",
    "contract_violation",
    "internal_error",
    # The call needs the consent of a person, and no confirm was given.
    "confirmation_required",
    # The result has several parts: ask for less, or raise the server's limit.
    "partial_result",
    # The server says only that the tool failed.
    "tool_error",
]
Confirm = Callable[[str], Awaitable[bool]]


class ToolError(Exception):
    """A call that failed."""

    def __init__(
        self,
        tool: str,
        code: ErrorCode | str,
        message: str,
        executed: Literal["no", "yes", "unknown"],
        retry: Literal["safe", "unsafe"],
        status: int | None = None,
        data: object = None,
    ) -> None:
        super().__init__(message)
        self.tool = tool
        self.code = code
        #: whether the call was executed
        self.executed: Literal["no", "yes", "unknown"] = executed
        #: whether the same call can be repeated without a further effect
        self.retry: Literal["safe", "unsafe"] = retry
        #: status of the upstream's response, if there was one
        self.status = status
        #: what came instead of the data, if anything did
        self.data = data


@asynccontextmanager
async def connect(
    target: str | StdioServerParameters,
    *,
    headers: dict[str, str] | None = None,
    timeout: float = 60,
    violations: Literal["raise", "deliver"] = "raise",
    confirm: Confirm | None = None,
) -> AsyncGenerator[Server]:
    """Connects to a server at a URL, or starts a command that is one. confirm asks a
    person whether a call that changes something shall be made. violations says what
    becomes of data that the server reports as violating its schema."""

    async def elicit(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        if confirm is not None and await confirm(params.message):
            return types.ElicitResult(action="accept", content={"confirm": True})
        return types.ElicitResult(action="decline")

    http = httpx2.AsyncClient(headers=headers, follow_redirects=True, timeout=httpx2.Timeout(timeout, read=None))
    to = streamable_http_client(target, http_client=http) if isinstance(target, str) else target
    async with http, Client(to, read_timeout_seconds=timeout, elicitation_callback=None if confirm is None else elicit) as client:
        yield Server(client, violations=violations, confirm=confirm)


class Server:
    """The MCP server that functions call."""

    def __init__(self, client: Client, *, violations: Literal["raise", "deliver"] = "raise", confirm: Confirm | None = None) -> None:
        self.client = client
        self._violations = violations
        self._confirm = confirm

    async def call(self, tool: str, args: Mapping[str, object] | None, member: str | None) -> Any:
        """Calls a tool and returns its data: structured_content, or the member of it
        that is named. None: the tool declares none, and the content stands in for it."""
        given = dict(args or {})
        result = await self._send(tool, given)
        asks = _confirmation(result)
        if asks is not None and self._confirm is not None and await self._confirm(asks):
            result = await self._send(tool, {**given, "__confirmed": True})
        return _data(tool, result, member, self._violations)

    async def _send(self, tool: str, args: dict[str, Any]) -> types.CallToolResult:
        try:
            return await self.client.call_tool(tool, args)
        except MCPError as error:
            number = error.error.code
            unsent = number in (-32601, -32602)
            code = "not_found" if unsent else "timeout" if number in (-32001, 408) else "internal_error"
            raise ToolError(tool, code, str(error), "no" if unsent else "unknown", "safe" if unsent else "unsafe") from error
        except RuntimeError as error:  # the client's own validation of the result
            raise ToolError(tool, "contract_violation", str(error), "yes", "unsafe") from error


def _member(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


def _texts(result: types.CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, types.TextContent)]


def _confirmation(result: types.CallToolResult) -> str | None:
    """The question of a server that asks the caller to confirm: in its data, or in a text."""
    asked: list[object] = [result.structured_content]
    if result.structured_content is None:
        for text in _texts(result):
            if text.startswith("{"):
                try:
                    asked.append(json.loads(text))
                except ValueError:
                    pass  # not JSON
    for one in asked:
        message = _member(one, "message")
        if _member(one, "confirmation_required") is True and isinstance(message, str):
            return message
    return None


def _data(tool: str, result: types.CallToolResult, name: str | None, violations: str) -> object:
    structured: object = result.structured_content
    contract = _member(result.meta, "tenon/contract")
    executed = _member(contract, "executed")
    status = _member(contract, "status")

    def failure(code: str, message: str, data: object) -> ToolError:
        return ToolError(
            tool,
            code,
            message,
            "no" if executed == "no" else "yes" if executed == "yes" else "unknown",
            "safe" if _member(contract, "retry") == "safe" else "unsafe",
            status if isinstance(status, int) else None,
            data,
        )

    asks = _confirmation(result)
    if asks is not None:
        raise ToolError(tool, "confirmation_required", asks, "no", "safe")
    if result.is_error:
        error = _member(structured, "error")
        codes = [code for code in (_member(contract, "code"), _member(error, "code")) if isinstance(code, str)]
        message = _member(error, "message")
        raise failure(codes[0] if codes else "tool_error", message if isinstance(message, str) else "\n".join(_texts(result)), structured)
    if _member(result.meta, "tenon/partial") is not None:
        raise failure("partial_result", "The result has several parts: ask for less, or raise the server's limit (--max-result-bytes)", structured)
    if name is None:
        return result.content if structured is None else structured
    if structured is None or (name != "" and name not in cast("dict[str, object]", structured)):
        raise failure("contract_violation", f"The result of {tool} has no structured data", structured)
    value = structured if name == "" else _member(structured, name)
    if violations != "deliver" and _member(contract, "verdict") in ("violated", "undeclared"):
        raise failure("contract_violation", f"The data of {tool} violates its schema: {_violations(contract)}", value)
    return value


def _violations(contract: object) -> str:
    listed = _member(contract, "violations")
    every = cast("list[object]", listed) if isinstance(listed, list) else []
    return "; ".join(f"{_member(v, 'path')}: expected {_member(v, 'expected')}, got {_member(v, 'got')}" for v in every)
