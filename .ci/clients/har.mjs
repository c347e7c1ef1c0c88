// `node har.mjs TENON API` records calls of the bookshop at API, exports them as HAR and
// opens that in the network panel of a browser: the panel's own page, its own import,
// and what it then shows.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { report } from './cases.mjs'
import { openBrowser } from './page/lives.mjs'

const [tenon, api] = process.argv.slice(2)
const work = mkdtempSync(join(tmpdir(), 'har-'))
const recording = join(work, 'calls.ndjson')

function run(...args) {
  const p = spawnSync(tenon, args, { encoding: 'utf8', timeout: 60_000, maxBuffer: 1 << 26 })
  if (p.error) throw p.error
  return p.stdout
}

const book = {
  isbn: '978-1009990107', title: 'Northanger Abbey', subtitle: null, authors: [{ name: 'Jane Austen', born: 1775, died: 1817 }], year: 1817,
  genre: 'romance', tags: ['england'], priceCents: 875, stock: 3, format: { kind: 'paperback', pages: 474 },
}

// calls are what is recorded, and what the panel has to show of it.
const calls = [
  { args: ['getBook', 'bookId=b1001'], shows: ['GET', '/books/b1001', 200, 'application/json'] },
  { args: ['listBooks'], shows: ['GET', '/books', 200, 'application/json'] },
  { args: ['getBook', 'bookId=b9999'], shows: ['GET', '/books/b9999', 404, 'application/problem+json'] },
  { args: ['getCover', 'bookId=b1001'], shows: ['GET', '/books/b1001/cover', 200, 'image/png'] },
  { args: ['createBook', `body=${JSON.stringify(book)}`, '--confirm', 'off'], sends: true },
]

const browser = await openBrowser(`http://${api}`)
if (!browser) {
  console.log('left out: a HAR in the network panel of a browser: there is no Chromium')
  process.exit(0)
}
for (const c of calls) run('call', '--record', recording, '--allow-private-host', api, `http://${api}/openapi.yaml`, ...c.args)
const har = run('recording', 'har', recording)
const page = await browser.newPage()
await page.goto('devtools://devtools/bundled/devtools_app.html', { timeout: 30_000 })
const shown = await page.evaluate(async text => {
  const { ViewManager } = await import('./ui/legacy/legacy.js')
  const { NetworkPanel } = await import('./panels/network/network.js')
  const { NetworkLog } = await import('./models/logs/logs.js')
  await ViewManager.ViewManager.instance().showView('network')
  await NetworkPanel.NetworkPanel.instance().networkLogView.onLoadFromFile(new File([text], 'calls.har'))
  return Promise.all(NetworkLog.NetworkLog.instance().requests().map(async r => {
    const content = await r.requestContentData()
    return {
      line: [r.requestMethod, new URL(r.url()).pathname, r.statusCode, r.mimeType], size: r.resourceSize, took: r.duration,
      text: content.isTextContent ? content.text : null, sent: await r.requestFormData(),
    }
  }))
}, har)
await browser.close()
rmSync(work, { recursive: true })

const faults = []
const entries = JSON.parse(har).log.entries
if (shown.length !== entries.length || shown.length !== calls.length) faults.push(`${shown.length} of ${entries.length} requests of ${calls.length} calls are shown`)
for (const [i, one] of shown.entries()) {
  const { request, response } = entries[i]
  if (calls[i].shows && !isDeepStrictEqual(one.line, calls[i].shows)) faults.push(`${one.line}, want ${calls[i].shows}`)
  if (response.content.encoding !== 'base64' && one.text !== response.content.text) faults.push(`${one.line}: another body is shown: ${one.text}`)
  if (one.size !== response.content.size || !(one.took > 0)) faults.push(`${one.line}: ${one.size} bytes, ${one.took} s`)
  if (calls[i].sends && one.sent !== request.postData.text) faults.push(`${one.line}: another request body is shown: ${one.sent}`)
}
report('a HAR in the network panel', `${shown.length} requests`, faults)
