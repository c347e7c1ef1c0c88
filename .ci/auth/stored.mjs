// `node stored.mjs TENON`: users store credentials of their own. A real issuer where
// people log in by a form, the built binary, the TypeScript client with URL
// elicitation, and a browser without a screen: it keeps cookies and fills in forms.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitationCompleteNotificationSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { secret, startIssuer } from './issuer.mjs';

const [, , tenon] = process.argv;
const work = mkdtempSync(join(tmpdir(), 'tenon-stored-'));
const appCallback = 'http://127.0.0.1:8976/callback'; // nobody listens there: the browser stops before
let failed = 0;

async function check(name, by) {
  try {
    await by();
    console.log('ok  ', name);
  } catch (error) {
    failed++;
    console.log('FAIL', name, error);
  }
}

async function freePort() {
  const s = createServer();
  await new Promise((ready) => s.listen(0, '127.0.0.1', ready));
  const { port } = s.address();
  await new Promise((done) => s.close(done));
  return port;
}

// The upstream knows two keys and says whose it was sent.
const known = { 'key-of-alice': 'alice', 'key-of-bob': 'bob' };
const seen = [];
const upstream = createServer((request, response) => {
  seen.push(request.headers['x-key']);
  const who = known[request.headers['x-key']];
  response.statusCode = who ? 200 : 401;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(who ? { who } : { error: 'who are you?' }));
});
await new Promise((ready) => upstream.listen(0, '127.0.0.1', ready));
const api = `127.0.0.1:${upstream.address().port}`;
const document = join(work, 'api.json');
writeFileSync(document, JSON.stringify({
  openapi: '3.1.0', info: { title: 'Library', version: '1' }, servers: [{ url: `http://${api}` }], security: [{ key: [] }],
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  paths: { '/who': { get: { operationId: 'who', responses: { 200: { description: 'd', content: { 'application/json': { schema: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] } } } } } } } },
}));

// Browser keeps cookies by host and fills in the forms of the issuer.
class Browser {
  jars = new Map();
  async open(at, { stop, form, headers } = {}) {
    for (let hops = 0; hops < 15; hops++) {
      if (stop && at.startsWith(stop)) return { url: at };
      const { host } = new URL(at);
      const jar = this.jars.get(host) ?? this.jars.set(host, new Map()).get(host);
      const answer = await fetch(at, {
        redirect: 'manual', method: form ? 'POST' : 'GET', body: form && new URLSearchParams(form),
        headers: { cookie: [...jar].map(([k, v]) => `${k}=${v}`).join('; '), ...(form && { origin: new URL(at).origin }), ...headers },
      });
      for (const cookie of answer.headers.getSetCookie()) {
        const [pair] = cookie.split(';');
        const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
        if (/max-age=0|1970/i.test(cookie)) jar.delete(name);
        else jar.set(name, value);
      }
      const next = answer.headers.get('location');
      if (!next) return { url: at, status: answer.status, text: await answer.text(), headers: answer.headers };
      [at, form] = [new URL(next, at).href, undefined];
    }
    throw new Error('too many redirects');
  }
  // as opens a page and logs in with a name where it is asked for one.
  async as(name, at, options = {}) {
    let page = await this.open(at, options);
    for (let forms = 0; forms < 4 && page.text?.includes('name="prompt"'); forms++) {
      const prompt = page.text.match(/name="prompt" value="(\w+)"/)[1];
      page = await this.open(new URL(page.text.match(/action="([^"]+)"/)[1], page.url).href, { ...options, form: { prompt, ...(prompt === 'login' && { login: name, password: 'x' }) } });
    }
    return page;
  }
  async fill(page, fields) {
    const token = page.text.match(/name="token" value="([^"]+)"/)?.[1];
    return this.open(page.url, { form: { ...(token && { token }), ...fields } });
  }
}

const port = await freePort();
const base = `http://127.0.0.1:${port}`;
const issuer = await startIssuer('jwt', { people: true, callback: `${base}/credentials/callback` });
const dir = join(work, 'credentials');
let log = '';

async function startTenon() {
  const child = spawn(tenon, ['serve', '--http', `127.0.0.1:${port}`, '--oauth-issuer', issuer.url, '--oauth-resource', `${base}/mcp`, '--oauth-login', 'tenon=env:SECRET',
    '--credential-dir', dir, '--credential-key', 'env:KEY', '--api-key', 'nightly=env:NIGHTLY', '--allow-private-host', api, '--auth', 'key=user', document], { env: { ...process.env, SECRET: secret, KEY: key, NIGHTLY: 'a-key-of-a-program' } });
  const ended = new Promise((done) => child.on('exit', done));
  await new Promise((ready, fail) => {
    let mine = '';
    child.stderr.on('data', (text) => { log += text; mine += text; if (mine.includes('listening on')) ready(); });
    ended.then(() => fail(new Error(`tenon ended: ${log}`)));
  });
  return async () => { child.kill('SIGINT'); assert.equal(await ended, 0); };
}
const key = randomBytes(32).toString('hex');

// tokenOf registers a client and logs a person in.
async function tokenOf(name) {
  const registered = await (await fetch(`${issuer.url}/reg`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ redirect_uris: [appCallback], token_endpoint_auth_method: 'none' }) })).json();
  const verifier = randomBytes(32).toString('base64url');
  const challenge = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))).toString('base64url');
  const page = `${issuer.url}/auth?` + new URLSearchParams({ client_id: registered.client_id, response_type: 'code', redirect_uri: appCallback, scope: 'openid books', resource: `${base}/mcp`, code_challenge: challenge, code_challenge_method: 'S256' });
  const back = await new Browser().as(name, page, { stop: appCallback });
  const said = await (await fetch(`${issuer.url}/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'authorization_code', code: new URL(back.url).searchParams.get('code'), redirect_uri: appCallback, client_id: registered.client_id, code_verifier: verifier, resource: `${base}/mcp` }) })).json();
  assert.ok(said.access_token, JSON.stringify(said));
  return said.access_token;
}

// connect returns a client; asked has the pages that it was asked to open.
async function connect(token, open) {
  const asked = [];
  const completed = [];
  const client = new Client({ name: 'suite', version: '1' }, { capabilities: open ? { elicitation: { url: {} } } : {} });
  if (open) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params);
      return { action: await open(params.url) };
    });
    client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => { completed.push(params.elicitationId); });
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  return { asked, completed, who: () => client.callTool({ name: 'who', arguments: {} }), close: () => client.close() };
}
const text = (result) => JSON.stringify(result);

let stop = await startTenon();
const [alice, mallory] = [await tokenOf('alice'), await tokenOf('mallory')];
const atHome = new Browser(); // alice's

await check('a client without URL elicitation is told the address, and nothing is sent', async () => {
  const c = await connect(alice);
  const result = await c.who();
  assert.equal(result.isError, true);
  assert.match(text(result), new RegExp(`${base}/credentials/[A-Z2-7]+`));
  assert.match(text(result), /authentication_error/);
  assert.equal(seen.length, 0);
  await c.close();
});

await check('a caller with a key is refused with a word', async () => {
  const c = await connect('a-key-of-a-program', async () => 'accept');
  const result = await c.who();
  assert.match(text(result), /this caller is no user/);
  assert.equal(c.asked.length + seen.length, 0);
  await c.close();
});

await check('who declines is not asked by the same call, and nothing is sent', async () => {
  const c = await connect(alice, async () => 'decline');
  assert.match(text(await c.who()), /declined/);
  assert.equal(c.asked.length, 1);
  assert.equal(seen.length, 0);
  await c.close();
});

let page;
await check('mallory opens the page of alice: refused, nothing stored', async () => {
  const c = await connect(alice, async (url) => { page = url; return 'cancel'; });
  await c.who();
  const evil = new Browser();
  const got = await evil.as('mallory', page);
  assert.equal(got.status, 403);
  assert.match(got.text, /This page is not for you/);
  assert.equal(got.text.includes('name="secret"'), false);
  // and posts its form with a session of her own
  const list = await evil.as('mallory', `${base}/credentials`);
  const token = list.text.match(/name="token" value="([^"]+)"/)?.[1] ?? 'none';
  assert.equal((await evil.open(page, { form: { token, secret: 'key-of-mallory' } })).status, 403);
  assert.equal(readdirSync(dir).length, 0);
  await c.close();
});

await check('alice stores hers: the call that waits goes on, and the client is told', async () => {
  const c = await connect(alice, async (url) => {
    const form = await atHome.as('alice', url);
    assert.equal(form.status, 200, form.text);
    assert.ok(form.text.includes(`http://${api}`) && form.text.includes('Library'), form.text);
    assert.match(form.headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors 'none'/);
    setTimeout(() => atHome.fill(form, { secret: 'key-of-alice' }), 300);
    return 'accept';
  });
  const result = await c.who();
  assert.equal(result.isError ?? false, false, text(result));
  assert.match(text(result), /alice/);
  assert.equal(c.asked[0].mode, 'url');
  assert.ok(c.asked[0].elicitationId);
  assert.deepEqual(c.completed, [c.asked[0].elicitationId]);
  assert.equal(c.asked[0].url.includes('alice'), false);
  page = c.asked[0].url;
  assert.match(text(await c.who()), /alice/); // without being asked again
  assert.equal(c.asked.length, 1);
  await c.close();
});

await check('the page is used up', async () => assert.equal((await atHome.open(page)).status, 404));

await check('a client of 2026-07-28 is asked, and its call goes on', async () => {
  const bob = await tokenOf('bob');
  const body = (more) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'who', arguments: {}, ...more, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } }, 'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' } } } });
  const call = async (more) => (await fetch(`${base}/mcp`, { method: 'POST', body: body(more), headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${bob}`, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'who' } })).text();
  const parse = (said) => JSON.parse(said.startsWith('{') ? said : said.split('\n').find((line) => line.startsWith('data: {')).slice(6));
  const first = parse(await call());
  assert.equal(first.result?.resultType, 'input_required', text(first));
  const [name, question] = Object.entries(first.result.inputRequests)[0];
  assert.equal(question.params.mode, 'url');
  assert.equal('elicitationId' in question.params, false);
  const own = new Browser();
  await own.fill(await own.as('bob', question.params.url), { secret: 'key-of-bob' });
  const second = parse(await call({ inputResponses: { [name]: { action: 'accept' } }, requestState: first.result.requestState }));
  assert.match(text(second), /bob/);
  assert.equal(text(second).includes('input_required'), false);
});

await check('files are private and tell nothing', async () => {
  const all = readdirSync(dir, { recursive: true }).map((name) => join(dir, name)).filter((name) => statSync(name).isFile());
  assert.equal(all.length, 2);
  for (const name of all) {
    assert.equal(statSync(name).mode & 0o777, 0o600);
    const content = readFileSync(name, 'latin1');
    assert.equal(/key-of|alice|bob|Library/.test(content + name.slice(dir.length)), false);
  }
});

await check('it outlives a restart', async () => {
  await stop();
  stop = await startTenon();
  const c = await connect(alice, async () => 'cancel');
  assert.match(text(await c.who()), /alice/);
  assert.equal(c.asked.length, 0);
  await c.close();
});

await check('a key that the service refuses is asked for anew, once', async () => {
  delete known['key-of-alice'];
  known['new-key-of-alice'] = 'alice';
  const before = seen.length;
  const c = await connect(alice, async (url) => {
    const form = await new Browser().as('alice', url);
    assert.match(form.text, /refused the one that you have stored/);
    const own = new Browser();
    await own.fill(await own.as('alice', url), { secret: 'wrong-again' });
    return 'accept';
  });
  const first = await c.who();
  assert.equal(first.isError, true);
  assert.equal(c.asked.length, 1, text(first)); // no loop
  assert.deepEqual(seen.slice(before), ['key-of-alice', 'wrong-again']);
  await c.close();
  const again = await connect(alice, async (url) => {
    const own = new Browser();
    await own.fill(await own.as('alice', url), { secret: 'new-key-of-alice' });
    return 'accept';
  });
  assert.match(text(await again.who()), /"who\\*":\\*"alice/);
  await again.close();
});

await check('alice sees what she stored, and deletes it; mallory sees nothing', async () => {
  const own = new Browser();
  const list = await own.as('alice', `${base}/credentials`);
  assert.match(list.text, /Sent only to/);
  assert.equal(/key-of/.test(list.text), false);
  const name = list.text.match(/name="delete" value="([^"]+)"/)[1];
  const evil = new Browser();
  const hers = await evil.as('mallory', `${base}/credentials`);
  assert.match(hers.text, /There are none/);
  const after = await own.fill(list, { delete: name });
  assert.match(after.text, /There are none/);
  const c = await connect(alice, async () => 'decline');
  await c.who();
  assert.equal(c.asked.length, 1);
  await c.close();
});

await check('mallory is asked for her own', async () => {
  const c = await connect(mallory, async () => 'decline');
  await c.who();
  assert.equal(c.asked.length, 1);
  await c.close();
});

await stop();
await check('the log has no credential and no secret', async () => {
  for (const hidden of ['key-of-alice', 'key-of-bob', 'wrong-again', secret, key, alice]) assert.equal(log.includes(hidden), false);
  assert.match(log, /somebody opened the page of somebody else/);
});
issuer.close();
upstream.closeAllConnections();
upstream.close();
rmSync(work, { recursive: true });
process.exit(failed ? 1 : 0);
