// `node suite.mjs TENON [PYTHON]`: a real issuer, the built binary, and clients that
// know nothing but the address of the server. Each goes the whole way: 401, metadata,
// issuer, registration, login, token, a tool. Then what a stranger tries.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as second from '@modelcontextprotocol/client';
import { check, failures, message, post, startTenon } from './harness.mjs';
import { browser, secret, startIssuer } from './issuer.mjs';

const [, , tenon, python] = process.argv;
const callback = 'http://127.0.0.1:8976/callback'; // nobody listens there: the browser stops before
const work = mkdtempSync(join(tmpdir(), 'tenon-auth-'));

// The upstream remembers what it is sent.
const seen = [];
const upstream = createServer((request, response) => {
  seen.push(request.headers);
  response.setHeader('content-type', 'application/json');
  response.end('{"title":"Emma"}');
});
await new Promise((ready) => upstream.listen(0, '127.0.0.1', ready));
const api = `127.0.0.1:${upstream.address().port}`;
const document = join(work, 'api.json');
writeFileSync(document, JSON.stringify({
  openapi: '3.1.0', info: { title: 'Books', version: '1' }, servers: [{ url: `http://${api}` }],
  paths: { '/book': { get: { operationId: 'getBook', responses: { 200: { description: 'a book', content: { 'application/json': { schema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } } } } } } } },
}));

const serve = (issuer, ...more) => startTenon(tenon, secret, (url) => ['--oauth-issuer', issuer, '--oauth-resource', url, '--oauth-scope', 'books', '--allow-private-host', api, ...more, document]);

// provider is what the SDK asks of an application: a place to keep things, and a browser.
function provider() {
  const kept = {};
  return {
    kept,
    redirectUrl: callback,
    clientMetadata: { client_name: 'suite', redirect_uris: [callback], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => { kept.client = client; },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => { kept.tokens = tokens; },
    saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    codeVerifier: () => kept.verifier,
    redirectToAuthorization: async (page) => { kept.page = page; kept.back = (await browser(page, callback)).searchParams; },
  };
}

// first and second are the two generations of the TypeScript client.
const first = { Client, StreamableHTTPClientTransport, UnauthorizedError };

async function callAs(url, authProvider, { Client, StreamableHTTPClientTransport, UnauthorizedError } = first) {
  let transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  const client = new Client({ name: 'suite', version: '1' });
  await assert.rejects(client.connect(transport), UnauthorizedError);
  await transport.finishAuth(authProvider.kept.back.get('code'), authProvider.kept.back.get('iss')); // the issuer is for the second generation (RFC 9207)
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  const again = new Client({ name: 'suite', version: '1' });
  await again.connect(transport);
  const tools = await again.listTools();
  const result = await again.callTool({ name: 'getBook', arguments: {} });
  const session = transport.sessionId;
  await transport.close();
  return { tools, result, session };
}

async function machineToken(issuer, resource, scope = 'books') {
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST', headers: { authorization: 'Basic ' + btoa('machine:a-secret-of-the-machine') },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource, ...(scope && { scope }) }),
  });
  const said = await answer.json();
  assert.equal(answer.status, 200, JSON.stringify(said));
  return said.access_token;
}

function runPython(url) {
  const child = spawn(python, ['client.py', url, callback], { stdio: 'inherit' });
  return new Promise((done) => child.on('exit', (code) => done(code)));
}

for (const format of ['jwt', 'opaque']) {
  const issuer = await startIssuer(format);
  const server = await serve(issuer.url, ...(format === 'opaque' ? ['--oauth-introspection', 'tenon=env:SECRET'] : []));
  const ann = provider();
  let session;
  await check(`${format}: the TypeScript client goes from nothing to a tool`, async () => {
    const got = await callAs(server.url, ann);
    assert.equal(got.result.structuredContent.data?.title ?? got.result.structuredContent.title, 'Emma');
    assert.equal(ann.kept.page.searchParams.get('resource'), server.url);
    assert.equal(ann.kept.page.searchParams.get('scope'), 'books'); // what the challenge said
    assert.equal(ann.kept.tokens.access_token.split('.').length === 3, format === 'jwt');
    session = got.session;
    assert.ok(session);
  });
  await check(`${format}: the second TypeScript client goes from nothing to a tool`, async () => {
    const bob = provider();
    const got = await callAs(server.url, bob, second);
    assert.equal(got.result.structuredContent.data?.title ?? got.result.structuredContent.title, 'Emma');
    assert.equal(bob.kept.page.searchParams.get('resource'), server.url);
  });
  if (python) {
    await check(`${format}: the Python client goes from nothing to a tool`, async () => assert.equal(await runPython(server.url), 0));
  }
  const token = ann.kept.tokens?.access_token;
  await check(`${format}: no token of a caller reaches the upstream`, async () => {
    assert.ok(seen.length > 0);
    assert.ok(seen.every((headers) => headers.authorization === undefined && !JSON.stringify(headers).includes(token)));
  });
  await check(`${format}: a client without a user is a caller, too, and sees no session of others`, async () => {
    const machine = await machineToken(issuer.url, server.url);
    const call = await post(server.url, machine, message('tools/call', { name: 'getBook', arguments: {} }));
    assert.equal(call.status, 200, await call.text());
    const stolen = await post(server.url, machine, message('tools/list'), { 'mcp-session-id': session });
    assert.equal(stolen.status, 404);
    const own = await post(server.url, token, message('tools/list'), { 'mcp-session-id': session });
    assert.equal(own.status, 200);
  });
  await check(`${format}: a token for another server is refused`, async () => {
    const foreign = await machineToken(issuer.url, 'https://other.example/mcp');
    const answer = await post(server.url, foreign, message('tools/list'));
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get('www-authenticate'), /error="invalid_token".*resource_metadata="/);
  });
  await check(`${format}: a token without the scope is answered 403`, async () => {
    const poor = await machineToken(issuer.url, server.url, '');
    const answer = await post(server.url, poor, message('tools/list'));
    assert.equal(answer.status, 403);
    assert.match(answer.headers.get('www-authenticate'), /error="insufficient_scope".*scope="books"/);
  });
  await check(`${format}: no token, and what is none`, async () => {
    for (const bad of ['', 'x', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', `${token}x`]) {
      const answer = await post(server.url, bad, message('tools/list'));
      assert.equal(answer.status, 401, `${bad}: ${answer.status}`);
    }
    assert.equal((await post(`${server.url}?access_token=${token}`, '', message('tools/list'))).status, 401);
    assert.equal((await fetch(server.url.replace('/mcp', '/.well-known/oauth-protected-resource/mcp'), { method: 'HEAD' })).status, 200);
  });
  await check(`${format}: an issuer that is gone is 503 for whom it is needed`, async () => {
    issuer.close();
    const known = await post(server.url, token, message('tools/list'));
    assert.equal(known.status, 200, await known.text()); // by its key, or by what the issuer said a moment ago
    const fresh = await serve(issuer.url, ...(format === 'opaque' ? ['--oauth-introspection', 'tenon=env:SECRET'] : []));
    const answer = await post(fresh.url, token, message('tools/list'));
    assert.equal(answer.status, 503);
    assert.match(await answer.text(), /try again later/);
    await fresh.stop();
  });
  await check(`${format}: the log has no token and no secret`, async () => {
    await server.stop();
    assert.ok(!server.log().includes(token) && !server.log().includes(secret), server.log());
  });
}
upstream.closeAllConnections();
upstream.close();
rmSync(work, { recursive: true });
process.exit(failures() ? 1 : 0);
