# The Python client of the page that describes the output structure, step by
# step as it stands there, in our own words; see call.js. It presumes the
# package requests, input and a server at localhost:8080.

import requests


def call_tool(name, args):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": args}}
    answer = requests.post("http://localhost:8080/jsonrpc", json=message).json()
    if "error" in answer:
        raise Exception("RPC error: " + answer["error"]["message"])
    result = answer["result"]
    if result["type"] == "api_response":
        return result["data"]
    if result["type"] == "error":
        raise Exception(f"API error: {result['error']['message']} ({result['error']['code']})")
    if result["type"] == "confirmation_request":
        if input(result["message"] + " (y/n): ").lower() != "y":
            raise Exception("Operation cancelled")
        args["__confirmed"] = True
        return call_tool(name, args)
    print("Warning: Unknown response type: " + result["type"])
    return result
