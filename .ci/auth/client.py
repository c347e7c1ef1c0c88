"""`client.py URL CALLBACK`: the Python SDK knows nothing but the address of the
server, and goes from the 401 to a call of a tool by its own OAuth flow."""

import asyncio
import sys
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata


class Storage:
    """What an application keeps."""

    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Browser:
    """A user's browser, which stops before the client's own address."""

    def __init__(self, callback):
        self.callback = callback
        self.landed = None

    async def open(self, page):
        assert parse_qs(urlsplit(page).query)["resource"], page
        async with httpx2.AsyncClient() as web:
            for _ in range(10):
                answer = await web.get(page)
                page = urljoin(page, answer.headers["location"])
                if page.startswith(self.callback):
                    self.landed = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
                    return
        raise AssertionError("the login never ends")

    async def result(self):
        return AuthorizationCodeResult(code=self.landed["code"], state=self.landed.get("state"), iss=self.landed.get("iss"))


async def main(url, callback):
    browser, storage = Browser(callback), Storage()
    metadata = OAuthClientMetadata(
        client_name="suite", redirect_uris=[callback], grant_types=["authorization_code", "refresh_token"],
        response_types=["code"], token_endpoint_auth_method="none", application_type="native",
    )
    auth = OAuthClientProvider(url, metadata, storage, browser.open, browser.result)
    async with httpx2.AsyncClient(auth=auth, timeout=30) as web, Client(streamable_http_client(url, http_client=web)) as client:
        result = await client.call_tool("getBook", {})
        assert not result.is_error and "Emma" in str(result.structured_content), result
    assert storage.tokens.access_token and storage.tokens.scope.split() == ["books"], storage.tokens.scope


asyncio.run(main(*sys.argv[1:]))
