"""A program for Azure Functions as its documentation would have it."""

import os

import azure.functions as func

app = func.FunctionApp()


@app.mcp_tool()
@app.mcp_tool_property(arg_name="city", description="Where")
def describe(city: str) -> str:
    """Says a word about a city."""
    return f"{city} is a city"


@app.generic_trigger(
    arg_name="context",
    type="mcpToolTrigger",
    toolName="summary",
    description="An object, as text",
    toolProperties="[]",
    outputSchema='{"type":"object","properties":{"open":{"type":"boolean"},"count":{"type":"integer"}},"required":["open","count"]}',
)
def summary(context) -> str:
    return '{"open": true, "count": 12}'


@app.mcp_tool()
def broken() -> str:
    """Fails."""
    raise RuntimeError("the station is closed")


@app.mcp_tool()
def crash() -> str:
    """Ends the process."""
    os._exit(7)
