// `node keycloak.mjs TENON FOLDER`: a real Keycloak from its folder, with the realm of
// realm.json in memory, and the built binary before an upstream that believes only
// tokens which Keycloak made for it. Keycloak ignores the resource that clients name,
// so the audience is the client "tenon", which exchanges.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { check, failures, freePort, message, post, startTenon } from './harness.mjs';

const [, , tenon, folder] = process.argv;
const secret = 'a-secret-of-tenon';
const calls = 10_000, subjects = 16;
const realm = JSON.parse(readFileSync('realm.json'));
const password = (user) => realm.users.find((u) => u.username === user).credentials[0].value;
const work = mkdtempSync(join(tmpdir(), 'tenon-keycloak-'));

// Keycloak says that it is ready where it is asked for health.
const port = await freePort(), management = await freePort();
const admin = randomBytes(16).toString('hex');
const keycloak = spawn(join(folder, 'bin/kc.sh'), ['start-dev', '--db=dev-mem', '--http-host=127.0.0.1', `--http-port=${port}`, `--http-management-port=${management}`, '--health-enabled=true'], {
  env: { ...process.env, KC_BOOTSTRAP_ADMIN_USERNAME: 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD: admin, JAVA_OPTS_KC_HEAP: '-Xms64m -Xmx512m' },
});
let said = '';
keycloak.stdout.on('data', (text) => { said += text; });
keycloak.stderr.on('data', (text) => { said += text; });
process.on('exit', () => keycloak.kill('SIGKILL'));
for (const began = Date.now(); ; await pause(500)) {
  assert.equal(keycloak.exitCode, null, said);
  assert.ok(Date.now() - began < 300_000, said);
  const ready = await fetch(`http://127.0.0.1:${management}/health/ready`).catch(() => null);
  if (ready?.ok) break;
}
const base = `http://127.0.0.1:${port}`, issuer = `${base}/realms/tools`, endpoint = `${issuer}/protocol/openid-connect`;

async function asAdmin(path, body) {
  const { access_token } = await (await fetch(`${base}/realms/master/protocol/openid-connect/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: admin }) })).json();
  const answer = await fetch(`${base}/admin/realms${path}`, { method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${access_token}` }, body: JSON.stringify(body) });
  assert.equal(answer.status, 201, await answer.text());
}
await asAdmin('', realm);

const basic = (client) => 'Basic ' + btoa(`${client}:${realm.clients.find((c) => c.clientId === client).secret}`);
async function grant(client, more) {
  const answer = await fetch(`${endpoint}/token`, { method: 'POST', headers: { authorization: basic(client) }, body: new URLSearchParams(more) });
  const got = await answer.json();
  assert.equal(answer.status, 200, JSON.stringify(got));
  return got;
}
const login = async (client, user) => (await grant(client, { grant_type: 'password', username: user, password: password(user) })).access_token;

// The upstream says whose token it got, if Keycloak made it for the upstream.
const keys = createRemoteJWKSet(new URL(`${endpoint}/certs`), { cooldownDuration: 0 });
const bearers = new Set();
let requests = 0;
const upstream = createServer(async (request, response) => {
  requests++;
  response.setHeader('content-type', 'application/json');
  try {
    const token = request.headers.authorization.slice('Bearer '.length);
    bearers.add(token);
    const { payload } = await jwtVerify(token, keys, { issuer, audience: 'upstream' });
    if (request.url === '/kept') response.setHeader('cache-control', 'max-age=600');
    response.end(JSON.stringify({ sub: payload.sub, azp: payload.azp }));
  } catch (error) {
    response.statusCode = 401;
    response.end(JSON.stringify({ error: String(error) }));
  }
});
await new Promise((ready) => upstream.listen(0, '127.0.0.1', ready));
const api = `127.0.0.1:${upstream.address().port}`;
const who = (id, scope) => ({ get: { operationId: id, security: [{ corp: scope }], responses: { 200: { description: 'who', content: { 'application/json': { schema: { type: 'object', properties: { sub: { type: 'string' }, azp: { type: 'string' } }, required: ['sub', 'azp'] } } } } } } });
const document = join(work, 'api.json');
writeFileSync(document, JSON.stringify({
  openapi: '3.1.0', info: { title: 'Who', version: '1' }, servers: [{ url: `http://${api}` }],
  components: { securitySchemes: { corp: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: `${endpoint}/token`, scopes: { email: '', phone: '', nobodys: '' } } } } } },
  paths: { '/kept': who('kept', []), '/fresh': who('fresh', []), '/phone': who('phone', ['phone']), '/nobodys': who('nobodys', ['nobodys']) },
}));
const args = (url) => [
  '--oauth-issuer', issuer, '--oauth-resource', url, '--oauth-audience', 'tenon', '--oauth-introspection', 'tenon=env:SECRET', '--oauth-exchange', 'tenon=env:SECRET',
  '--auth', 'corp=exchange:upstream', '--cache-bytes', '1000000', '--allow-private-host', api, '--api-key', 'ops=env:SECRET', document,
];
const server = await startTenon(tenon, secret, args);
const call = async (token, tool = 'fresh', headers) => {
  const answer = await post(server.url, token, message('tools/call', { name: tool, arguments: {} }), headers);
  const text = await answer.text();
  return { status: answer.status, text, data: answer.status === 200 ? JSON.parse(text).result?.structuredContent?.data : undefined };
};

const hasty = await login('hasty', 'user00'), hastyAt = Date.now(); // expires in a second, and is tried at the end
const ann = await login('desk', 'user00');

await check('keycloak: a user is known by discovery, with typ JWT and the client in azp', async () => {
  assert.equal(decodeProtectedHeader(ann).typ, 'JWT');
  const claims = decodeJwt(ann);
  assert.deepEqual([claims.azp, claims.client_id, claims.aud], ['desk', undefined, 'tenon']); // aud is a text
  const got = await call(ann);
  assert.deepEqual(got.data, { sub: claims.sub, azp: 'tenon' }, got.text);
});
await check('keycloak: aud is a list', async () => {
  const token = await login('both', 'user01');
  assert.ok(Array.isArray(decodeJwt(token).aud));
  assert.equal((await call(token)).data.sub, decodeJwt(token).sub);
});
await check('keycloak: a service account is a caller', async () => {
  const { access_token: token } = await grant('batch', { grant_type: 'client_credentials' });
  assert.equal((await call(token)).data.sub, decodeJwt(token).sub);
});
await check('keycloak: a token for another audience is refused', async () => {
  const got = await call(await login('stranger', 'user00'));
  assert.equal(got.status, 401);
  assert.match(got.text, /another audience/);
});
await check('keycloak: the key for encryption is no key for signatures', async () => {
  const all = (await (await fetch(`${endpoint}/certs`)).json()).keys;
  const enc = all.find((key) => key.use === 'enc');
  const mine = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const forge = (kid) => new SignJWT(decodeJwt(ann)).setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid }).sign(mine);
  const tried = await call(await forge(enc.kid));
  assert.equal(tried.status, 401);
  assert.match(tried.text, /does not publish/); // and not: a wrong signature, by which it would have been tried
  assert.match((await call(await forge(decodeProtectedHeader(ann).kid))).text, /wrong signature/);
});
await check('keycloak: refresh tokens, ID tokens and opaque ones are refused', async () => {
  const all = await grant('desk', { grant_type: 'password', scope: 'openid', username: 'user02', password: password('user02') });
  for (const [token, why] of [[all.refresh_token, /algorithm/], [all.id_token, /audience|not an access token/], ['opaque', /is not active/]]) {
    const got = await call(token);
    assert.equal(got.status, 401, got.text);
    assert.match(got.text, why);
  }
});
await check('keycloak: scopes of the operation are asked for, and one that is not granted is said', async () => {
  assert.equal((await call(ann, 'phone')).data.sub, decodeJwt(ann).sub);
  assert.ok([...bearers].some((token) => decodeJwt(token).scope.split(' ').includes('phone')));
  const before = requests, got = await call(ann, 'nobodys');
  assert.match(got.text, /authorization_error.*does not grant the caller the scopes.*nobodys/);
  assert.match(got.text, /"executed":"no"/);
  assert.equal(requests, before);
});
await check('keycloak: a caller with a key has nothing to exchange', async () => {
  assert.match((await call('', 'fresh', { 'x-api-key': secret })).text, /no access token that could be exchanged/);
});
await check('keycloak: a session that was ended ends exchanges, then the token', async () => {
  const bob = await login('desk', 'user03');
  const revoked = await fetch(`${endpoint}/revoke`, { method: 'POST', headers: { authorization: basic('desk') }, body: new URLSearchParams({ token: bob }) });
  assert.equal(revoked.status, 200);
  assert.match((await call(bob)).text, /authentication_error.*expired or was revoked/);
  const again = await call(bob);
  assert.equal(again.status, 401);
  assert.equal((await call(ann)).status, 200);
});
await check('keycloak: keys are rotated while tenon serves', async () => {
  await asAdmin('/tools/components', { name: 'newer', providerId: 'rsa-generated', providerType: 'org.keycloak.keys.KeyProvider', config: { priority: ['200'] } });
  const newer = await login('desk', 'user00');
  assert.notEqual(decodeProtectedHeader(newer).kid, decodeProtectedHeader(ann).kid);
  assert.equal((await call(newer)).data.sub, decodeJwt(newer).sub);
  assert.equal((await call(ann)).data.sub, decodeJwt(ann).sub);
});
await check('keycloak: tenon check asks whether tokens can be exchanged', async () => {
  const run = (...more) => new Promise((done) => execFile(tenon, ['check', '--http', '127.0.0.1:0', ...args('http://127.0.0.1:1/mcp'), ...more], { env: { ...process.env, SECRET: secret } }, (error, out, err) => done([error?.code ?? 0, out + err])));
  assert.deepEqual((await run())[0], 0);
});

const everybody = await Promise.all(Array.from({ length: subjects }, (_, i) => login('desk', `user${String(i).padStart(2, '0')}`)));
await check(`keycloak: of ${calls} calls of ${subjects} subjects none gets the token of another, reloads included`, async () => {
  bearers.clear();
  requests = 0;
  let next = 0, crossed = 0, reloads = 0;
  const worker = async () => {
    for (let n = next++; n < calls; n = next++) {
      if (n % 2000 === 1000) { server.reload(); reloads++; }
      const token = everybody[n % subjects];
      const got = await call(token, n % 3 ? 'fresh' : 'kept');
      assert.ok(got.data, got.text);
      if (got.data.sub !== decodeJwt(token).sub) crossed++;
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  console.log(`     ${reloads} reloads, ${bearers.size} exchanged tokens, ${requests} requests, ${crossed} crossed`);
  assert.equal(crossed, 0);
  assert.ok(bearers.size >= subjects && bearers.size <= subjects * (reloads + 1) && requests < calls);
});
await check('keycloak: a token that has expired is refused', async () => {
  await pause(Math.max(0, hastyAt + 62_000 - Date.now())); // the skew of clocks, and its second
  const got = await call(hasty);
  assert.equal(got.status, 401);
  assert.match(got.text, /has expired/);
});
await check('keycloak: no token of a caller reaches the upstream, and the log has none', async () => {
  await server.stop();
  for (const token of [ann, hasty, ...everybody]) assert.ok(!bearers.has(token) && !server.log().includes(token));
  assert.ok(![...bearers].some((token) => server.log().includes(token)) && !server.log().includes(secret));
});

upstream.closeAllConnections();
upstream.close();
rmSync(work, { recursive: true });
keycloak.kill('SIGTERM');
await new Promise((done) => (keycloak.exitCode ?? keycloak.signalCode) === null ? keycloak.on('exit', done) : done());
process.exit(failures() ? 1 : 0);
