package flowmcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/flowmcp/library"
)

// A catalog without findings.
const (
	shopFile      = "providers/shop/Shop.mjs"
	skillFile     = "providers/shop/skills/choose.mjs"
	nextSkillFile = "providers/shop/skills/wrap.mjs"
	textFile      = "providers/shop/prompts/about.mjs"
	promptFile    = "providers/shop/prompts/deep.mjs"
	listFile      = "_lists/book-genres.mjs"
	choiceFile    = "selections/reading.mjs"
	agentManifest = "agents/reader/agent.mjs"
	registryFile  = "registry.json"
)

func keptCatalog() map[string]string {
	return map[string]string{
		listFile: `export const list = {
  meta: { name: 'bookGenres', version: '1.2.0', description: 'x', fields: [ { key: 'alias', type: 'string', description: 'x' } ] },
  entries: [ { alias: 'sea' }, { alias: 'crime' }, { alias: 'poems' } ]
}
`,
		shopFile: `export const main = {
  namespace: 'shop', name: 'Shop', description: 'A shop', version: '4.0.0', schemaVersion: '1.0.0', root: 'https://shop.example',
  docs: [ 'https://shop.example/docs' ], termsOfService: 'https://shop.example/terms', tags: [ 'books' ], requiredServerParams: [ 'KEY' ],
  sharedLists: [ { ref: 'bookGenres', version: '1.2.0' } ],
  tools: {
    find: {
      method: 'GET', path: '/books', description: 'Finds books',
      parameters: [
        { position: { key: 'genre', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'enum({{bookGenres:alias}})', options: [] } },
        { position: { key: 'most', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'number()', options: [ 'optional()' ] } }
      ],
      output: { mimeType: 'application/json', schema: { type: 'object', properties: { a: { type: 'string' } } } },
      tests: [ { _description: 'one', genre: 'sea' }, { _description: 'two', genre: 'crime' }, { _description: 'three', genre: 'sea', most: 3 } ],
      meta: { isReadOnly: true, isConcurrencySafe: true, isDestructive: false, searchHint: 'books', aliases: [], alwaysLoad: false }
    }
  },
  resources: {
    stock: {
      source: 'sqlite', mode: 'in-memory', origin: 'project', name: 'shop-stock.db', description: 'Books',
      queries: {
        byGenre: {
          sql: 'SELECT title FROM books WHERE genre = ?', description: 'Books of a genre',
          parameters: [ { position: { key: 'genre', value: '{{USER_PARAM}}' }, z: { primitive: 'string()', options: [ 'min(2)' ] } } ],
          output: { mimeType: 'application/json', schema: { type: 'array', items: { type: 'object' } } },
          tests: [ { _description: 'one', genre: 'sea' }, { _description: 'two', genre: 'crime' }, { _description: 'three', genre: 'poems' } ]
        }
      }
    },
    about: { source: 'markdown', origin: 'inline', name: 'shop-about.md', description: 'The shop' }
  },
  prompts: {
    about: { name: 'about', version: 'flowmcp-prompt/1.0.0', namespace: 'shop', description: 'About', dependsOn: [ 'find' ], references: [ 'shop/prompt/plain' ], contentFile: './prompts/about.mjs' },
    plain: { name: 'plain', version: 'flowmcp-prompt/1.0.0', namespace: 'shop', description: 'Plain', dependsOn: [], references: [], contentFile: './prompts/about.mjs' }
  }
}
export const handlers = () => ({ find: { postRequest: async ({ response }) => ({ response }) } })
`,
		textFile: "export const content = `Find books with {{tool:find}}, {{resource:stock}}.`\n",
		promptFile: `export const prompt = { name: 'deep', version: 'flowmcp-prompt/1.0.0', agent: 'reader', description: 'Deep', testedWith: 'acme/large',
  dependsOn: [ 'shop/tool/find' ], references: [], content: 'Look with {{tool:shop/find}} for {{input:what}}' }
`,
		skillFile: `export const skill = { name: 'choose', version: 'flowmcp/4.0.0', type: 'namespace', whenToUse: 'to choose', description: 'Chooses', output: 'a title',
  requires: { tools: [ 'find' ], resources: [ 'stock' ], external: [] },
  input: [ { key: 'genre', type: 'string', description: 'which', required: true } ],
  content: 'Use {{tool:find}} and {{resource:stock}} for {{input:genre}}; then {{skill:wrap}}' }
`,
		nextSkillFile: `export const skill = { name: 'wrap', version: 'flowmcp/4.0.0', whenToUse: 'to wrap', description: 'Wraps', output: 'a parcel', content: 'Wrap it' }
`,
		choiceFile: `export const selection = { namespace: 'shop', name: 'reading', version: 'flowmcp/4.0.0', description: 'Reading', whenToUse: 'to read', tools: [ 'shop/tool/find' ] }
`,
		agentManifest: `export const agent = {
  name: 'reader', description: 'Reads', version: 'flowmcp/4.0.0', model: 'acme/large', systemPrompt: 'You read.',
  tools: { 'shop/tool/find': null }, resources: { 'shop/resource/stock': null },
  prompts: { 'shop/prompt/about': null, 'guide': { file: './prompts/guide.mjs' } },
  skills: { 'aloud': { file: './skills/aloud.mjs' } }, selections: [ 'shop/selection/reading' ], elicitation: { enabled: true, maxRounds: 2 },
  tests: [ { _description: 'one', input: 'a', expectedTools: [ 'shop/tool/find' ], expectedContent: [ 'x' ] }, { _description: 'two', input: 'b', expectedTools: [ 'shop/tool/find', 'shop/resource/stock' ], expectedContent: [ 'x' ] },
    { _description: 'three', input: 'c', expectedTools: [ 'shop/resource/stock' ], expectedContent: [ 'x' ] } ]
}
`,
		"agents/reader/prompts/guide.mjs":        "export const content = 'Read on'\n",
		"providers/shop/resources/shop-about.md": "# The shop\n",
		"selections/skills/slowly.mjs":           `export const skill = { name: 'slowly', version: 'flowmcp/4.0.0', whenToUse: 'to rest', description: 'Reads', output: 'a voice', content: 'Read {{tool:shop/find}}', requires: { tools: [ 'shop/tool/find' ] } }`,
		"agents/reader/skills/aloud.mjs":         `export const skill = { name: 'aloud', version: 'flowmcp/4.0.0', whenToUse: 'to hear', description: 'Reads', output: 'a voice', content: 'Read aloud' }`,
	}
}

// folderCase is one change of a file of the catalog, and the findings in either
// mode.
type folderCase struct {
	code           string
	file           string
	from, to       string
	strict, compat flowmcp.Severity
}

func folderCases() []folderCase {
	const e, w, i = flowmcp.Fatal, flowmcp.Warning, flowmcp.Info
	const handler = "=> ({ response })"
	tool := func(n int) string {
		var all strings.Builder
		for k := range n {
			all.WriteString("extra" + string(rune('A'+k)) + ": { method: 'GET', path: '/x', description: 'x', parameters: [] }, ")
		}
		return all.String()
	}
	return []folderCase{
		{"CHK001", shopFile, "[ 'books' ]", "[" + strings.Repeat("'B', ", 1001) + "]", w, w},
		{"VAL001", shopFile, "export const main", "const main", e, e},
		{"VAL002", shopFile, "export const main = {", "export const main = 5\nconst x = {", e, e},
		{"VAL004", shopFile, "export const handlers = () => ", "export const handlers = ", e, w},
		{"VAL005", shopFile, "({ find: {", "({ found: {", w, w},
		{"VAL019", shopFile, "namespace: 'shop', name: 'Shop'", "namespace: 'store', name: 'Shop'", w, w},
		{"VAL031", shopFile, "    find: {", tool(9) + "    find: {", e, w},
		{"VAL073", shopFile, "ref: 'bookGenres', version: '1.2.0'", "ref: 'bookGenres', version: '1.1.0'", e, w},
		{"VAL049", shopFile, "bookGenres:alias", "bookGenres:name", e, w},
		{"NAM002", shopFile, "", "shop.mjs", e, i},
		{"LST001", listFile, "export const list", "export const other = 1; const list", e, e},
		{"LST002", listFile, "name: 'bookGenres', ", "", e, e},
		{"LST003", listFile, "'1.2.0'", "'one'", e, e},
		{"LST004", listFile, "fields: [ { key: 'alias', type: 'string', description: 'x' } ]", "fields: []", e, e},
		{"LST005", listFile, "key: 'alias', ", "", e, e},
		{"LST005", listFile, "type: 'string', description: 'x'", "type: 'string'", w, w},
		{"LST006", listFile, "[ { alias: 'sea' }, { alias: 'crime' }, { alias: 'poems' } ]", "[]", e, e},
		{"LST007", listFile, "{ alias: 'sea' }", "{}", e, w},
		{"LST008", listFile, "{ alias: 'sea' }", "{ alias: 5 }", e, w},
		{"TST007", shopFile, "_description: 'two', genre: 'crime' }, { _description: 'three', genre: 'sea', most", "_description: 'two', genre: 'sea' }, { _description: 'three', genre: 'sea', most", w, i},
		{"TST008", shopFile, ", most: 3 }", " }", i, i},
		{"RES001", shopFile, "source: 'sqlite'", "source: 'csv'", e, e},
		{"RES002", shopFile, "description: 'Books',", "", e, w},
		{"RES003", shopFile, "mode: 'in-memory', origin: 'project', name: 'shop-stock.db'", "database: '~/.flowmcp/data/stock.db'", e, i},
		{"RES004", shopFile, "'shop-stock.db'", "'../stock.db'", e, e},
		{"RES007", shopFile, "'SELECT title FROM", "'SELECT 1; SELECT title FROM", e, e},
		{"RES008", shopFile, "description: 'Books of a genre'", "label: ''", e, w},
		{"RES009", shopFile, "parameters: [ { position: { key: 'genre', value: '{{USER_PARAM}}' }", "others: [ { position: { key: 'genre', value: '{{USER_PARAM}}' }", e, e},
		{"RES010", shopFile, "output: { mimeType: 'application/json', schema: { type: 'array', items: { type: 'object' } } },", "", e, w},
		{"RES011", shopFile, "tests: [ { _description: 'one', genre: 'sea' }, { _description: 'two', genre: 'crime' }, { _description: 'three', genre: 'poems' } ]", "tests: []", e, w},
		{"RES014", shopFile, "genre = ?", "genre = 1", e, e},
		{"RES015", shopFile, "value: '{{USER_PARAM}}' }", "value: '{{USER_PARAM}}', location: 'query' }", e, w},
		{"RES016", shopFile, "'{{USER_PARAM}}' }", "'{{SERVER_PARAM:KEY}}' }", e, e},
		{"RES017", shopFile, "    stock: {", "    'stock-list': {", e, i},
		{"RES018", shopFile, "byGenre: {", "'by-genre': {", e, i},
		{"RES019", shopFile, "'string()', options: [ 'min(2)' ]", "'array()', options: []", e, e},
		{"RES020", shopFile, "shop-about.md", "shop-none.md", w, w},
		{"RES021", shopFile, "schema: { type: 'array', items: { type: 'object' } }", "schema: { type: 'object' }", e, w},
		{"RES022", shopFile, "genre: 'poems'", "genre: 5", w, w},
		{"RES023", shopFile, "{ _description: 'three', genre: 'poems' }", "'three'", e, w},
		{"RES024", shopFile, "source: 'sqlite', mode: 'in-memory', origin: 'project', name: 'shop-stock.db'", "source: 'http', url: 'http://shop.example/a.db', path: 'a.db'", e, e},
		{"RES025", shopFile, "mode: 'in-memory'", "mode: 'memory'", e, w},
		{"RES026", shopFile, "origin: 'inline'", "origin: 'there'", e, e},
		{"RES027", shopFile, "'shop-about.md'", "'about.exe'", e, e},
		{"RES028", shopFile, "queries: {", "queries: { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1,", e, w},
		{"RES029", shopFile, "'SELECT title FROM", "'DELETE FROM", e, e},
		{"RES030", shopFile, "source: 'sqlite'", "source: 'sqlite-gtfs', addon: 'x'", e, e},
		{"RES031", shopFile, "source: 'sqlite', mode: 'in-memory'", "source: 'sqlite-gtfs', mode: 'file-based'", e, e},
		{"RES036", shopFile, "source: 'sqlite', mode: 'in-memory', origin: 'project', name: 'shop-stock.db'", "source: 'http', url: 'https://shop.example/a.db'", e, i},
		{"RES037", shopFile, "mode: 'in-memory', origin: 'project'", "mode: 'file-based', origin: 'global'", e, e},
		{"RES038", shopFile, "source: 'markdown'", "source: 'markdown', mode: 'in-memory'", e, w},
		{"RES039", shopFile, "source: 'markdown'", "source: 'markdown', queries: {}", e, w},
		{"RES040", shopFile, "origin: 'project'", "origin: 'inline'", w, i},
		{"RES041", shopFile, "queries: {", "others: {", e, i},
		{"RES043", shopFile, "source: 'sqlite', mode: 'in-memory'", "source: 'sqlite-gtfs', mode: 'url'", e, e},
		{"RES044", shopFile, "source: 'sqlite', mode: 'in-memory'", "source: 'geo-geojson', mode: 'url'", e, e},
		{"RES045", shopFile, "source: 'sqlite', mode: 'in-memory'", "source: 'geo-csv', mode: 'url', url: 'https://shop.example/a.csv', addon: 'x'", e, e},
		{"RES046", shopFile, "source: 'sqlite', mode: 'in-memory'", "source: 'geo-geojson', mode: 'url', url: 'https://shop.example/a.json', addon: 'x'", e, e},
		{"SKL001", skillFile, "const skill =", "const skill = 5; const x =", e, e},
		{"SKL002", skillFile, "name: 'choose'", "name: 'A b'", e, e},
		{"SKL003", skillFile, "name: 'choose'", "name: 'pick'", w, w},
		{"SKL004", skillFile, "flowmcp/4.0.0", "4", e, w},
		{"SKL005", skillFile, "tools: [ 'find' ]", "tools: [ 'found' ]", e, w},
		{"SKL006", skillFile, "resources: [ 'stock' ]", "resources: [ 'store' ]", e, w},
		{"SKL007", skillFile, "description: 'Chooses'", "description: ''", e, w},
		{"SKL008", skillFile, "{{input:genre}}", "{{input:kind}}", e, w},
		{"SKL009", skillFile, "type: 'string'", "type: 'enum'", e, w},
		{"SKL010", skillFile, "content: 'Use", "content: 5, other: 'Use", e, e},
		{"SKL011", skillFile, "output: 'a title',", "", e, i},
		{"SKL012", skillFile, "key: 'genre'", "key: 'a-b'", e, e},
		{"SKL013", skillFile, "type: 'string'", "type: 'date'", e, w},
		{"SKL014", skillFile, "description: 'which', ", "", e, i},
		{"SKL015", skillFile, ", required: true", "", e, i},
		{"SKL019", skillFile, "whenToUse: 'to choose', ", "", e, i},
		{"SKL020", skillFile, "tools: [ 'find' ]", "tools: []", w, i},
		{"SKL021", skillFile, "resources: [ 'stock' ]", "resources: []", w, i},
		{"SKL022", skillFile, "{{skill:wrap}}", "{{skill:none}}", e, w},
		{"SKL023", nextSkillFile, "'Wrap it'", "'Wrap {{skill:choose}}'", e, w},
		{"SKL024", skillFile, "{{tool:find}} and", "", w, i},
		{"SKL025", skillFile, "{{resource:stock}}", "", w, i},
		{"PH001", skillFile, "content: 'Use", "content: '{{ }}Use", e, w},
		{"PH002", skillFile, "{{tool:find}}", "{{tool:find}}{{tool:none}}", e, w},
		{"PH003", skillFile, "content: 'Use", "content: '{{input:a-b}}Use", e, w},
		{"PRM001", shopFile, "name: 'about', version", "name: '', version", e, e},
		{"PRM001", shopFile, "prompts: {", "prompts: { x: 5,", e, e},
		{"PRM002", promptFile, "flowmcp-prompt/1.0.0", "1", e, w},
		{"PRM003", promptFile, "agent: 'reader'", "agent: 'reader', namespace: 'shop'", e, w},
		{"PRM004", promptFile, "testedWith: 'acme/large',", "", e, w},
		{"PRM005", promptFile, "acme/large", "large", e, w},
		{"PRM006", shopFile, "dependsOn: [ 'find' ]", "dependsOn: [ 'found' ]", e, w},
		{"PRM007", shopFile, "shop/prompt/plain", "shop/prompt/none", e, w},
		{"PRM008", shopFile, "shop/prompt/plain", "shop/prompt/about", e, w},
		{"PRM009", textFile, "{{tool:find}}", "{{tool:found}}", e, w},
		{"PRM010", promptFile, "content: 'Look", "other: 'Look", e, e},
		{"PRM010", shopFile, "contentFile: './prompts/about.mjs'", "content: 'x', contentFile: './prompts/about.mjs'", e, w},
		{"PRM011", shopFile, "'./prompts/about.mjs'", "'../about.mjs'", e, e},
		{"PRM012", textFile, "const content", "const text", e, e},
		{"PRM013", promptFile, "references: [], ", "", e, w},
		{"PRM014", promptFile, "description: 'Deep'", "description: ''", e, w},
		{"SEL001", choiceFile, "whenToUse: 'to read',", "", e, w},
		{"SEL002", choiceFile, "[ 'shop/tool/find' ]", "[]", e, e},
		{"SEL003", choiceFile, "shop/tool/find", "shop/tool/found", e, e},
		{"AGT001", agentManifest, "name: 'reader'", "name: 'writer'", e, w},
		{"AGT002", agentManifest, "description: 'Reads', ", "", e, w},
		{"AGT003", agentManifest, "acme/large", "large", e, w},
		{"AGT004", agentManifest, "flowmcp/4.0.0", "flowmcp/3.0.0", e, w},
		{"AGT005", agentManifest, "systemPrompt: 'You read.',", "", e, w},
		{"AGT006", agentManifest, "{ 'shop/tool/find': null }", "[ 'shop/tool/find' ]", e, w},
		{"AGT007", agentManifest, "'shop/tool/find': null", "'shop/find': null", e, e},
		{"AGT008", agentManifest, "{ _description: 'one', input: 'a', expectedTools: [ 'shop/tool/find' ], expectedContent: [ 'x' ] }, ", "", e, w},
		{"AGT009", agentManifest, "input: 'a', ", "", e, w},
		{"AGT010", agentManifest, "expectedTools: [ 'shop/tool/find' ]", "expectedTools: []", e, w},
		{"AGT011", agentManifest, "expectedTools: [ 'shop/tool/find' ]", "expectedTools: [ 'find' ]", e, w},
		{"AGT012", agentManifest, "{ _description: 'one', input: 'a', expectedTools: [ 'shop/tool/find' ], expectedContent: [ 'x' ] }, { _description: 'two', input: 'b', expectedTools: [ 'shop/tool/find', 'shop/resource/stock' ]", "{ _description: 'two', input: 'b', expectedTools: [ 'shop/resource/stock' ]", w, i},
		{"AGT013", agentManifest, "{ file: './prompts/guide.mjs' }", "{}", e, w},
		{"AGT014", agentManifest, "'aloud': {", "'shop/skill/choose': {", e, w},
		{"AGT015", agentManifest, "{ 'shop/resource/stock': null }", "[]", e, w},
		{"AGT016", agentManifest, "./prompts/guide.mjs", "./prompts/none.mjs", e, w},
		{"AGT017", "agents/reader/prompts/guide.mjs", "content", "text", e, w},
		{"AGT018", "agents/reader/skills/aloud.mjs", "const skill", "const text", e, w},
		{"AGT019", agentManifest, "tools: {", "tools: { own: {},", e, w},
		{"AGT020", agentManifest, "'shop/tool/find': null", "'shop/tool/find': {}", e, w},
		{"AGT021", agentManifest, "const agent", "const main", e, w},
		{"AGT021", agentManifest, "const agent", "const robot", e, e},
		{"AGT022", agentManifest, "'shop/tool/find': null", "'shop/tool/found': null", e, e},
		{"AGT030", agentManifest, "shop/selection/reading", "shop/selection/none", e, e},
		{"AGT031", agentManifest, "maxRounds: 2", "maxRounds: 0", e, w},
		{"AGT032", agentManifest, "tools: {", "tools: { own: { method: 'GET', path: '/x', description: 'x' },", w, w},
		{"CAT001", registryFile, "{", "[", e, e},
		{"CAT002", registryFile, `"name": "catalog"`, `"name": "other"`, e, e},
		{"CAT003", registryFile, listFile, "_lists/none.mjs", e, e},
		{"CAT004", registryFile, shopFile, "providers/none.mjs", e, e},
		{"CAT005", registryFile, choiceFile, "selections/none.mjs", e, e},
		{"CAT006", registryFile, shopFile, textFile, w, w},
		{"CAT007", registryFile, `"schemaSpec": "4`, `"schemaSpec": "9`, e, e},
		{"CAT008", registryFile, `"contentHash": "`, `"contentHash": "0`, w, w},
		{"SEC001", shopFile, handler, "=> import('fs')", e, w},
		{"SEC002", shopFile, handler, "=> require('fs')", e, e},
		{"SEC003", shopFile, handler, "=> eval('1')", e, e},
		{"SEC004", shopFile, handler, "=> Function('1')", e, e},
		{"SEC005", shopFile, handler, "=> new Function('1')", e, e},
		{"SEC006", shopFile, handler, "=> process.env", e, e},
		{"SEC007", shopFile, handler, "=> child_process.exec('id')", e, e},
		{"SEC008", shopFile, handler, "=> fs.readFileSync('x')", e, e},
		{"SEC009", shopFile, handler, "=> 'node:fs'", i, i},
		{"SEC010", shopFile, handler, "=> 'fs/promises'", i, i},
		{"SEC011", shopFile, handler, "=> globalThis.x", e, e},
		{"SEC012", shopFile, handler, "=> global.x", e, e},
		{"SEC013", shopFile, handler, "=> __dirname", e, e},
		{"SEC014", shopFile, handler, "=> __filename", e, e},
		{"SEC015", shopFile, handler, "=> setTimeout(() => {}, 1)", e, w},
		{"SEC016", shopFile, handler, "=> setInterval(() => {}, 1)", e, w},
		{"SEC017", shopFile, "'A shop'", "'A ' + 'shop'", e, e},
		{"SEC100", shopFile, handler, "=> fetch('x')", e, w},
		{"SEC102", shopFile, handler, "=> ({ response: sharedLists.bookGenres.sort() })", e, w},
		{"SEC019", listFile, "alias: 'sea'", "alias: 'se' + 'a'", e, e},
		{"SEC200", listFile, "alias: 'sea'", "alias: function () { return 'sea' }", e, e},
		{"SEC200", listFile, "alias: 'sea'", "alias() { return 'sea' }", e, e},
		{"SEC200", listFile, "export const list", "function make() {}\nexport const list", e, w},
		{"SEC201", listFile, "alias: 'sea'", "alias: () => 'sea'", e, e},
		{"SEC202", listFile, "alias: 'sea'", "alias: async () => 'sea'", e, e},
		{"SEC202", listFile, "alias: 'sea'", "alias: await 'sea'", e, e},
		{"SEC203", listFile, "alias: 'sea'", "alias: `s${ 1 }a`", e, e},
		{"SEC204", listFile, "export const list", "const home = process.env.HOME\nexport const list", e, e},
		{"SEC204", listFile, "description: 'x', fields", "description: 'fs.', fields", i, i},
		{"VAL107", shopFile, "enum({{bookGenres:alias}})", "enum(sea,crime,poems)", e, i},
		{"VAL107", shopFile, "options: [ 'optional()' ] }", "options: [ 'optional()' ], enum: [ 'sea' ] }", e, i},
		{"PH004", shopFile, "description: 'Finds books'", "description: 'Finds books as {{tool:other}} does'", e, w},
		{"VAL110", choiceFile, "shop/tool/find", "find", e, e},
		{"VAL110", choiceFile, "tools: [ 'shop/tool/find' ]", "tools: { 'shop/tool/find': null }", e, e},
		{"VAL110", choiceFile, "tools: [", "skills: { 'shop/skill/slowly': { file: './skills/slowly.mjs' } }, tools: [", e, w},
		{"VAL110", agentManifest, "{ 'shop/tool/find': null }", "{ 'shop/tool/find': null, find: null }", e, w},
		{"VAL110", agentManifest, "{ file: './prompts/guide.mjs' }", "null", e, w},
		{"SEL004", choiceFile, "tools: [", "skills: { slowly: { file: './skills/slowly.mjs' } }, tools: [", i, i},
		{"SEL005", choiceFile, "description: 'Reading', ", "", e, w},
		{"SEL005", choiceFile, "flowmcp/4.0.0", "4", e, w},
		{"SKL003", agentManifest, "'aloud': {", "'loud': {", w, w},
		{"SKL004", skillFile, "flowmcp/4.0.0", "flowmcp-skill/1.0.0", w, w},
		{"SKL012", skillFile, "key: 'genre'", "key: 'Genre'", e, i},
		{"SKL013", skillFile, "type: 'namespace'", "type: 'library'", e, w},
		{"SKL016", agentManifest, "aloud.mjs", "aloud.js", e, w},
		{"SKL016", choiceFile, "tools: [", "skills: { slowly: { file: './skills/slowly' } }, tools: [", e, e},
		{"SKL017", agentManifest, "aloud.mjs", "silent.mjs", e, w},
		{"SKL017", choiceFile, "tools: [", "skills: { slowly: { file: '../agents/reader/skills/aloud.mjs' } }, tools: [", e, e},
		{"SKL018", agentManifest, "'aloud': {", "a: {}, b: {}, c: {}, d: {}, 'aloud': {", e, w},
		{"SKL018", choiceFile, "tools: [", "skills: [ 'shop/skill/choose', 'shop/skill/wrap', 'shop/skill/choose', 'shop/skill/wrap', 'shop/skill/choose' ], tools: [", e, w},
		{"PH001", skillFile, "content: 'Use", "content: '{{tool:}}Use", e, w},
		{"ID001", choiceFile, "shop/tool/find", "shop/tool/find/it", e, w},
		{"ID002", choiceFile, "shop/tool/find", "Shop/tool/find", e, w},
		{"ID003", choiceFile, "shop/tool/find", "shop/tools/find", e, w},
		{"ID003", choiceFile, "shop/tool/find", "shop/resource/stock", e, w},
		{"ID003", skillFile, "{{tool:find}}", "{{tool:shop/resource/stock}}", e, w},
		{"ID003", agentManifest, "expectedTools: [ 'shop/tool/find' ]", "expectedTools: [ 'shop/thing/find' ]", e, w},
		{"ID004", choiceFile, "shop/tool/find", "shop/tool/", e, w},
		{"ID005", choiceFile, "shop/tool/find", "shop/find", e, i},
		{"ID006", promptFile, "shop/tool/find", "find", e, i},
		{"ID006", shopFile, "shop/prompt/plain", "plain", e, i},
		{"ID006", skillFile, "content: 'Use", "prefill: [ { tool: 'find' } ], content: 'Use", e, i},
		{"TST013", agentManifest, ", expectedContent: [ 'x' ]", "", i, i},
	}
}

// put writes the catalog with one change, and a registry unless the case is
// about it.
func (c folderCase) put(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "catalog")
	for name, text := range keptCatalog() {
		if name == c.file {
			switch changed := strings.Replace(text, c.from, c.to, 1); {
			case c.code == "NAM002":
				name = filepath.Join(filepath.Dir(name), c.to)
			case changed == text:
				t.Fatalf("%s: %q is not in %s", c.code, c.from, name)
			default:
				text = changed
			}
		}
		writeAt(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	if c.code != "" && c.file != registryFile {
		return dir
	}
	r, err := library.MakeRegistry(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if changed := strings.Replace(string(text), c.from, c.to, 1); c.file == registryFile && changed != string(text) {
		text = []byte(changed)
	} else if c.file == registryFile {
		t.Fatalf("%s: %q is not in %s", c.code, c.from, text)
	}
	writeAt(t, filepath.Join(dir, registryFile), string(text))
	return dir
}

// findings returns the findings on the part of a catalog that the case is
// about: its registry, its list, or all schema files and the files beside them.
func (c folderCase) findings(t *testing.T, dir string, strict bool) []flowmcp.Finding {
	t.Helper()
	var all []flowmcp.Finding
	if c.code == "" || c.file == registryFile {
		all = library.CheckRegistry(dir)
	}
	var specs []string
	switch {
	case c.code == "":
		specs = []string{dir, filepath.Join(dir, filepath.FromSlash(listFile))}
	case slices.Contains([]string{"LST", "VAL", "TST", "RES", "SEC", "CHK", "AGT"}, c.code[:3]) && c.code != "AGT022" && strings.Count(c.file, "/") < 3:
		specs = []string{filepath.Join(dir, filepath.FromSlash(c.file))}
	case c.file != registryFile:
		specs = []string{dir}
	}
	for _, spec := range specs {
		reports, err := flowmcp.Check(t.Context(), spec, flowmcp.Options{Strict: strict, ImplicitParameters: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			all = append(all, r.Findings...)
		}
	}
	return all
}

// TestRulesOfFolders changes one thing in the catalog without findings.
func TestRulesOfFolders(t *testing.T) {
	for _, strict := range []bool{true, false} {
		for _, f := range (folderCase{}).findings(t, folderCase{}.put(t), strict) {
			if f.Code != "VAL081" { // the hash is derived
				t.Errorf("nothing was changed, and there is %s", f)
			}
		}
	}
	for _, c := range folderCases() {
		t.Run(c.code+" "+c.to[:min(len(c.to), 40)], func(t *testing.T) {
			t.Parallel()
			dir := c.put(t)
			for strict, want := range map[bool]flowmcp.Severity{true: c.strict, false: c.compat} {
				findings := c.findings(t, dir, strict)
				if !slices.ContainsFunc(findings, func(f flowmcp.Finding) bool { return f.Code == c.code && f.Severity == want }) {
					t.Errorf("strict %v: want %s among %v", strict, want, findings)
				}
			}
		})
	}
}

// elsewhere lists the rules whose cases are not changes of a text, with their
// test.
func elsewhere() map[string]string {
	return map[string]string{
		"LST009": "internal/format/lists_test.go", "LST010": "internal/format/lists_test.go", "LST011": "internal/format/lists_test.go", // several lists
		"SEC101": "handle_test.go", "SEC103": "handle_test.go", "SEC104": "handle_test.go", // reported when handlers run
		"SEC105": "internal/format/security_test.go", "SEC107": "effects_test.go", "VAL091": "implicit_parameters_test.go", "VAL006": "handle_test.go",
		"SEC018": "internal/format/lists_test.go", // of two files
		"CHK002": "lookup_test.go",                // outside a library
	}
}

// TestEveryRuleHasACase compares the rules of docs/flowmcp-rules.md with the
// cases of the tables.
func TestEveryRuleHasACase(t *testing.T) {
	text, err := os.ReadFile("../docs/flowmcp-rules.md")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	cases, err := os.ReadFile("internal/format/rules_test.go") // changes of one file
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`"([A-Z]{2,3}\d{3})", `).FindAllSubmatch(cases, -1) {
		have[string(m[1])] = true
	}
	for _, c := range folderCases() {
		have[c.code] = true
	}
	for code, name := range elsewhere() {
		source, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(source), code) {
			t.Errorf("%s has no case of %s: %v", name, code, err)
		}
		have[code] = true
	}
	rules := regexp.MustCompile("(?m)^\\| `([A-Z]{2,3}\\d{3})`").FindAllSubmatch(text, -1)
	for _, m := range rules {
		if !have[string(m[1])] {
			t.Errorf("no case triggers %s", m[1])
		}
	}
	t.Logf("%d rules", len(rules))
}
