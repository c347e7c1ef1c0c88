// What the suites of real issuers share: checks that are counted, and a tenon that
// is started and stopped.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

let failed = 0;

export async function check(name, by) {
  try {
    await by();
    console.log('ok  ', name);
  } catch (error) {
    failed++;
    console.log('FAIL', name, error);
  }
}

export const failures = () => failed;

export async function freePort() {
  const s = createServer();
  await new Promise((ready) => s.listen(0, '127.0.0.1', ready));
  const { port } = s.address();
  await new Promise((done) => s.close(done));
  return port;
}

// startTenon serves with the arguments that args makes of the URL.
export async function startTenon(tenon, secret, args) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const child = spawn(tenon, ['serve', '--http', `127.0.0.1:${port}`, ...args(url)], { env: { ...process.env, SECRET: secret } });
  let log = '';
  const ended = new Promise((done) => child.on('exit', done));
  await new Promise((ready, fail) => {
    child.stderr.on('data', (text) => { log += text; if (log.includes('listening on')) ready(); });
    ended.then(() => fail(new Error(`tenon ended: ${log}`)));
  });
  return { url, log: () => log, reload: () => child.kill('SIGHUP'), stop: async () => { child.kill('SIGINT'); assert.equal(await ended, 0); } };
}

export const message = (method, params = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

export const post = (url, token, body, headers = {}) => fetch(url, {
  method: 'POST', body,
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...(token && { authorization: `Bearer ${token}` }), ...headers },
});
