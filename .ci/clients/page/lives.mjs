// The places where the page's clients live: node, Python and a browser. Each
// is {name, call, close}; call({tool, args, says}) gives {data} or {thrown},
// and the last result in any case.

import { spawn } from 'node:child_process'
import { existsSync as exists } from 'node:fs'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'

const port = 'http://localhost:8080' // where the clients think that the server is

export function inNode(source, base) {
  const given = {}
  const post = async (url, options) => {
    const response = await fetch(url.replace(port, base), options)
    given.last = (await response.clone().json()).result
    return response
  }
  const callTool = new Function('fetch', 'confirm', `${source}\nreturn callTool`)(post, text => text !== '' && given.says)
  const call = ({ tool, args = {}, says }) => {
    given.says = says
    return outcome(callTool(tool, args), () => given.last)
  }
  return { name: 'JavaScript', call, close() {} }
}

async function outcome(promise, last) {
  try {
    return { data: await promise, last: last() }
  } catch (e) {
    return { thrown: e.message, last: last() }
  }
}

export function inPython(python, file, base) {
  const child = spawn(python, [new URL('live.py', import.meta.url).pathname, file, base], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const call = async scene => {
    child.stdin.write(JSON.stringify(scene) + '\n')
    const { value, done } = await lines.next()
    if (done) throw new Error('Python ended')
    return JSON.parse(value)
  }
  return { name: 'Python', call, close: () => child.stdin.end() }
}

// openBrowser starts Chromium, in which localhost:8080 is the server at `base`
// and every name under .example is this machine; null where there is none.
export async function openBrowser(base) {
  const { chromium } = await import('playwright-core')
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(exists)
  if (!executablePath) return null
  const rules = `MAP localhost:8080 ${new URL(base).host}, MAP *.example 127.0.0.1`
  return chromium.launch({ executablePath, args: ['--no-sandbox', `--host-resolver-rules=${rules}`] })
}

// inPage opens a page of an origin that holds the client.
export async function inPage(browser, origin, source) {
  const page = await browser.newPage()
  const given = {}
  page.on('dialog', d => (d.type() === 'confirm' && d.message() !== '' && given.says ? d.accept() : d.dismiss()))
  await page.goto(origin)
  await page.addScriptTag({ content: source })
  await page.evaluate(() => {
    const post = window.fetch
    window.fetch = async (...args) => {
      const response = await post(...args)
      window.last = (await response.clone().json()).result
      return response
    }
  })
  const call = ({ tool, args = {}, says }) => {
    given.says = says
    return page.evaluate(async ([tool, args]) => {
      window.last = undefined
      try {
        return { data: await window.callTool(tool, args), last: window.last }
      } catch (e) {
        return { thrown: e.message, last: window.last }
      }
    }, [tool, args])
  }
  return { name: `Chromium, a page of ${new URL(origin).hostname}`, call, page, close: () => page.close() }
}

// servePages serves an empty page under any name, and returns its port.
export async function servePages() {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' })
    response.end('<!doctype html><title>a page</title>')
  })
  await new Promise(done => server.listen(0, '127.0.0.1', done))
  return { port: server.address().port, close: () => server.close() }
}
