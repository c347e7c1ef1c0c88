// The closed list of differences to swagger-client. Each says for which cases it
// holds and why tenon does otherwise, and turns the foreign request into what
// tenon sends; a case that several hold for is mended by one after the other, in
// this order. What is not equal then is a failure, and so is a difference that
// no case shows any more.

const isList = c => c.text[0] === '['
const isObject = c => c.text[0] === '{'
const isVoid = c => c.text === '[]' || c.text === '{}'
const exploded = (c, otherwise) => c.options.explode ?? otherwise
const isForm = c => c.place === 'form' || c.place === 'formData'
const inURL = c => c.place === 'path' || c.place === 'query'
const percent = s => [...new TextEncoder().encode(s)].map(b => '%' + b.toString(16).toUpperCase().padStart(2, '0')).join('')
const strictly = s => encodeURIComponent(s).replace(/[!'()*]/g, percent)

// within changes the part of a request that the parameter or body stands in.
function within(r, c, change) {
  if (c.place === 'path') return { ...r, url: r.url.replace(/[^/]*$/, change) }
  if (c.place === 'query') return { ...r, url: r.url.replace(/(?<=\?).*$/s, change) }
  if (c.place === 'header' || c.place === 'cookie') {
    const name = c.place === 'header' ? 'p' : 'cookie'
    return { ...r, headers: { ...r.headers, [name]: change(r.headers[name] ?? '') } }
  }
  return { ...r, body: change(r.body) }
}

export const differences = [
  {
    what: 'an empty path argument is refused: the path would name another resource',
    when: c => c.place === 'path' && !c.options.content && (isVoid(c) || c.text === '""' && c.options.style !== 'matrix'),
    mend: () => ({ refused: true }),
  },
  {
    what: 'numbers go as they were written: JavaScript has neither 9007199254740993 nor 1.50',
    when: c => /9007199254740993|1\.50/.test(c.text),
    mend: (r, c) => within(r, c, s => s.replace('9007199254740992', '9007199254740993').replace(/\b1\.5$/, '1.50')),
  },
  {
    what: 'matrix: an empty value is its name alone (RFC 6570, the table of the specification)',
    when: c => c.options.style === 'matrix' && c.text.includes('""'),
    mend: (r, c) => within(r, c, s => s.replace(/;p=(?=;|$)/g, ';p')),
  },
  {
    what: 'path: names of members are percent-encoded as values are',
    when: c => c.place === 'path' && isObject(c),
    mend: (r, c) => within(r, c, s => s.replace(/[^\x00-\x7f]/g, percent)),
  },
  {
    what: 'label: members that are not exploded stand between commas (3.0.4 mended the table)',
    when: c => c.options.style === 'label' && !exploded(c, false) && (isList(c) || isObject(c)),
    mend: (r, c) => within(r, c, s => '.' + s.slice(1).replaceAll('.', ',')),
  },
  {
    what: 'spaceDelimited and pipeDelimited hold for objects too',
    when: c => /Delimited$/.test(c.options.style) && isObject(c),
    mend: (r, c) => within(r, c, s => s.replaceAll(',', c.options.style === 'pipeDelimited' ? '|' : '%20')),
  },
  {
    what: 'a bar is percent-encoded: no URL holds one (RFC 3986)',
    when: c => c.options.style === 'pipeDelimited' || c.options.collectionFormat === 'pipes' && c.place !== 'header',
    mend: (r, c) => within(r, c, s => s.replaceAll('|', '%7C')),
  },
  {
    what: 'deepObject: the third level has brackets as well, and is no JSON text',
    when: c => c.options.style === 'deepObject' && c.kind === 'nested object',
    mend: (r, c) => within(r, c, s => s.replace(/^(.*)=%7B%22b%22(?:%3A|:)1%7D$/, '$1%5Bb%5D=1')),
  },
  {
    what: 'an empty text is sent: it is not the same as none',
    when: c => c.text === '""' && (c.place === 'query' || c.place === 'formData') && !c.options.content,
    mend: (r, c) => c.place === 'query'
      ? { ...r, url: `${r.url}?${c.theirs.parameters.p === '' ? 'p' : 'page%5Bsize%5D'}=` }
      : { ...r, body: 'p=', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  },
  {
    what: 'an empty list and an empty object are not sent (RFC 6570: undefined)',
    when: c => isVoid(c) && !c.options.content && !c.options.contentType && (c.place === 'query' || c.place === 'header' || c.place === 'cookie' || isForm(c)),
    mend: r => {
      const { cookie, p, ...headers } = r.headers
      return { ...r, headers, url: r.url.replace(/\?.*$/, ''), body: '' }
    },
  },
  {
    what: 'allowReserved: & = + # [ ] of a value or a name are encoded all the same, else they would end it or read as something else',
    when: c => c.options.allowReserved,
    mend: (r, c) => within(r, c, s => c.kind === 'object'
      ? s.replace(/[[\]]/g, percent).replace(/&$/, '%26')
      : s.split(/&(?=p=|page\[)/).map(pair => pair.replace(/^([^=]*)=(.*)$/s, (_, k, v) => k.replace(/[[\]]/g, percent) + '=' + v.replace(/[&=+#[\]]/g, percent))).join('&')),
  },
  {
    what: 'a cookie holds what its style says, exploded by default; every other byte is percent-encoded, so that none can begin another cookie',
    when: c => c.place === 'cookie' && (!isVoid(c) || c.options.content),
    mend: (r, c) => ({ ...r, headers: { ...r.headers, cookie: cookie(c) } }),
  },
  {
    what: '2.0: a list in a path or a header has the separator of its collectionFormat',
    when: c => c.version === '2' && isList(c) && !isVoid(c) && (c.place === 'path' || c.place === 'header'),
    mend: (r, c) => {
      const values = JSON.parse(c.text.replace('9007199254740993', '"9007199254740993"'))
      const format = c.options.collectionFormat ?? 'csv'
      const separator = { csv: ',', ssv: ' ', tsv: '\t', pipes: '|' }[format]
      return within(r, c, () => c.place === 'header'
        ? values.join(separator).trim()
        : values.map(strictly).join(format === 'csv' ? ',' : strictly(separator)))
    },
  },
  {
    what: "! $ ' ( ) * [ ] are encoded everywhere: readers disagree about them",
    when: c => c.kind === 'reserved in every table' && (inURL(c) || isForm(c)) && !c.options.allowReserved,
    mend: (r, c) => within(r, c, s => s.replace(/[!$'()*[\]]/g, percent)),
  },
  {
    what: 'forms: a list without an encoding is exploded, style form being the default (3.0.4 §4.8.15)',
    when: c => c.place === 'form' && isList(c) && Object.keys(c.options).length === 0,
    mend: (r, c) => within(r, c, s => s.replaceAll(',', '&p=')),
  },
  {
    what: 'forms: a space is a plus (application/x-www-form-urlencoded)',
    when: c => isForm(c),
    mend: (r, c) => within(r, c, s => delimited(c) ? s.replace('a%20b', 'a+b').replace('c%20d', 'c+d').replace('x%20y', 'x+y') : s.replaceAll('%20', '+')),
  },
  {
    what: 'a body that is false, 0 or the empty text is a body, with its type',
    when: c => c.place === 'body' && ['false', '0', '""'].includes(c.text),
    mend: (r, c) => ({ ...r, body: c.text, headers: { 'content-type': c.name.includes('merge-patch') ? 'application/merge-patch+json' : 'application/json' } }),
  },
]

// delimited tells the fields whose separator is itself written as a space.
const delimited = c => c.options.style === 'spaceDelimited' || c.options.collectionFormat === 'ssv'

// cookie is the line of style form, written after the specification's table.
function cookie(c) {
  const value = JSON.parse(c.text.replace('9007199254740993', '"9007199254740993"').replace('1.50', '"1.50"'))
  const text = v => strictly(typeof v === 'object' ? JSON.stringify(v) : String(v))
  if (c.options.content) return 'p=' + strictly(c.text)
  if (typeof value !== 'object') return 'p=' + text(value)
  const pairs = Object.entries(value)
  if (Array.isArray(value)) return exploded(c, true) ? value.map(v => 'p=' + text(v)).join('; ') : 'p=' + value.map(text).join(',')
  return exploded(c, true) ? pairs.map(([k, v]) => `${strictly(k)}=${text(v)}`).join('; ') : 'p=' + pairs.map(([k, v]) => `${strictly(k)},${text(v)}`).join(',')
}
