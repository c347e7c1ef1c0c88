package flowmcp

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/sqlite"
)

// resource is a database or a text that a file brings with it.
type resource struct {
	file    *file
	name    string
	source  string // sqlite, markdown or http
	write   bool   // a database that callers may change
	origin  string // inline, project or global; empty: place says it itself
	place   string // the file's name below its origin
	url     string // of source http
	age     int    // seconds after which a download is stale
	text    string // description
	queries []*query
	line    int
	broken  bool
	hidden  bool // the operator does not want its tool
}

// query is one question that a database is asked.
type query struct {
	*route // name, description, parameters and output; its method says whether it changes something

	resource  *resource
	key       string
	statement sqlite.Statement
	dynamic   bool // the caller brings the SQL
	hidden    bool // the operator does not want it as a tool
}

// dynamicSQL stands for SQL that the caller brings.
const dynamicSQL = "{{DYNAMIC_SQL}}"

// Limits of resources.
const (
	maxQueries  = 7 // that a file describes; two more are added to each database
	downloadAge = 24 * 60 * 60
)

func (r *resource) id() string { return qualifiedName(r.file.namespace, r.file.path, r.name) }

// readResources reads and checks the resources of a file.
func (c *checker) readResources(f *file) {
	f.main.get("resources").members(func(name string, n *node) {
		path := "main.resources." + name
		c.tool = path
		r := &resource{
			file: f, name: name, source: n.get("source").str(), origin: n.get("origin").str(), place: n.get("name").str(),
			url: n.get("url").str(), text: n.get("description").str(), line: c.m.line(place(n)), write: n.get("mode").str() == "file-based",
		}
		f.resources = append(f.resources, r)
		if !n.is(objectKind) || !n.valid() {
			c.fault("RES001", n, path, "must be a plain object of literals")
		} else {
			c.checkResource(r, n, path)
		}
		r.broken = c.broken[path]
		c.tool = ""
	})
}

func (c *checker) checkResource(r *resource, n *node, path string) {
	if r.text == "" {
		c.loose("RES002", n, path+".description", "is missing or no string")
	}
	switch r.source {
	case "sqlite":
		c.checkDatabase(r, n, path)
	case "sqlite-gtfs", "geo-geojson", "geo-csv":
		c.checkAddOn(r, n, path)
		return
	case "http":
		if !n.get("path").there() {
			c.letter("RES036", n, path+".path", "is missing; what is downloaded is kept in a folder of the user's")
		}
		if !strings.HasPrefix(r.url, "https://") {
			c.fault("RES024", orElse(n.get("url"), n), path+".url", "must be an https address")
		}
		r.age = downloadAge
		if age := n.get("cacheTtl"); age.there() {
			if r.age = seconds(age); r.age == 0 {
				c.fault("RES024", age, path+".cacheTtl", "must be a positive number of seconds")
			}
		}
		if r.write {
			c.fault("RES037", n, path+".mode", "what is downloaded is not changed")
		}
	case "markdown":
		c.checkPlace(r, n, path, ".md", ".markdown", ".txt")
		if mode := n.get("mode"); mode.there() {
			c.loose("RES038", mode, path+".mode", "does not go with markdown")
		}
		if queries := n.get("queries"); queries.there() {
			c.loose("RES039", queries, path+".queries", "do not go with markdown")
		}
		return
	default:
		c.fault("RES001", orElse(n.get("source"), n), path+".source", "must be sqlite, markdown or http")
		return
	}
	c.readQueries(r, n, path)
}

// checkAddOn refuses a resource of an add-on, which is JavaScript outside the
// file that makes the tools.
func (c *checker) checkAddOn(r *resource, n *node, path string) {
	mode, addOn := n.get("mode").str(), n.get("addon").str()
	switch {
	case r.source == "sqlite-gtfs" && mode == "url":
		c.fault("RES043", n.get("mode"), path+".mode", "url does not go with sqlite-gtfs")
	case r.source == "sqlite-gtfs" && mode != "file-based":
		c.fault("RES030", orElse(n.get("mode"), n), path+".mode", "must be file-based for sqlite-gtfs")
	case r.source == "sqlite-gtfs" && addOn == "":
		c.fault("RES031", n, path+".addon", "must name the add-on")
	case r.source != "sqlite-gtfs" && (mode != "url" || addOn == "" || !strings.HasPrefix(r.url, "https://")):
		c.fault("RES044", n, path, "must have the mode url, an https url and an addon")
	case r.source == "geo-csv" && !n.get("parseConfig").is(objectKind):
		c.fault("RES045", n, path+".parseConfig", "must say how the lines are read")
	}
	c.fault("RES046", orElse(n.get("source"), n), path+".source",
		"the tools of a %s come from the add-on %q, which is not run; describe the data as sqlite, with queries of its own", r.source, addOn)
}

// seconds is a positive whole number; 0: it is none.
func seconds(n *node) int {
	total := 0
	if !n.is(numberKind) || len(n.text) > 9 {
		return 0
	}
	for _, b := range []byte(n.text) {
		if b < '0' || b > '9' {
			return 0
		}
		total = total*10 + int(b-'0')
	}
	return total
}

// checkDatabase looks at where a database is and how it is opened.
func (c *checker) checkDatabase(r *resource, n *node, path string) {
	if old := n.get("database"); old.there() && r.origin == "" {
		c.letter("RES003", old, path+".database", "is an older form; use origin and name")
		r.place = old.str()
		rest, global := strings.CutPrefix(r.place, "~/.flowmcp/")
		if r.origin = "inline"; global {
			r.origin, r.place = "global", rest
		}
		c.checkName(r, old, path+".database", ".db")
		return
	}
	switch mode := n.get("mode"); mode.str() {
	case "in-memory", "file-based":
	default:
		c.loose("RES025", orElse(mode, n), path+".mode", "must be in-memory or file-based; in-memory is assumed")
	}
	c.checkPlace(r, n, path, ".db")
	switch {
	case r.write && r.origin != "project":
		c.fault("RES037", n, path+".origin", "a database that is changed must have the origin project")
	case r.origin == "inline":
		c.advise("RES040", n, path+".origin", "a database beside its schema is discouraged")
	}
}

// checkPlace looks at origin and name.
func (c *checker) checkPlace(r *resource, n *node, path string, extensions ...string) {
	if !slices.Contains([]string{"inline", "project", "global"}, r.origin) {
		c.fault("RES026", orElse(n.get("origin"), n), path+".origin", "must be inline, project or global")
	}
	c.checkName(r, orElse(n.get("name"), n), path+".name", extensions...)
}

func (c *checker) checkName(r *resource, n *node, path string, extensions ...string) {
	switch {
	case !filepath.IsLocal(filepath.FromSlash(r.place)) || strings.Contains(r.place, "\\"):
		c.fault("RES004", n, path, "must name a file below its origin")
	case !slices.Contains(extensions, filepath.Ext(r.place)):
		c.fault("RES027", n, path, "must end with %s", strings.Join(extensions, " or "))
	}
}

// readQueries reads the questions of a file and adds the two that every
// database has.
func (c *checker) readQueries(r *resource, n *node, path string) {
	queries := n.get("queries")
	if queries.there() && !queries.is(objectKind) {
		c.fault("RES007", queries, path+".queries", "must be a plain object")
		return
	}
	if !queries.there() {
		c.letter("RES041", n, path+".queries", "is missing; runSql and describeTables are served anyway")
	}
	if count := len(queries.keysOrNone()); count > maxQueries {
		c.loose("RES028", queries, path+".queries", "has %d queries; %d are allowed", count, maxQueries)
	}
	owner := c.tool
	queries.members(func(key string, q *node) {
		c.tool = path + ".queries." + key
		c.readQuery(r, key, q, c.tool)
		c.tool = owner
	})
	for _, added := range []*query{r.runSQL(), r.describeTables()} {
		if !queries.get(added.key).there() {
			r.queries = append(r.queries, added)
		}
	}
}

func (c *checker) readQuery(r *resource, key string, n *node, path string) {
	q := r.query(key, n.get("description").str())
	q.line, q.output, q.tests = c.m.line(place(n)), n.get("output"), n.get("tests")
	r.queries = append(r.queries, q)
	if !camelPattern.MatchString(key) {
		c.letter("RES018", n, path, "the name is not camelCase")
	}
	if q.text == "" {
		c.loose("RES008", n, path+".description", "is missing or no string")
	}
	c.readBindings(q, n, path)
	c.readSQL(q, n.get("sql"), n, path+".sql")
	if key != "getSchema" { // it prepares a database, says the format, and needs no more
		c.checkRows(q, n, path+".output")
		if c.tests {
			c.checkTests(q.route, n, path+".tests", queryCases())
		}
	}
	q.broken = c.broken[path]
}

// checkRows keeps the rules of what a query answers.
func (c *checker) checkRows(q *query, n *node, path string) {
	if !q.output.get("mimeType").there() || !q.output.get("schema").there() {
		c.loose("RES010", orElse(q.output, n), path, "must have a mimeType and a schema")
	}
	if !q.output.there() {
		return
	}
	c.checkOutput(n, path)
	if root := q.output.get("schema").get("type"); root.there() && root.str() != "array" {
		c.loose("RES021", root, path+".schema.type", "must be array: a query answers rows")
	}
}

// readSQL reads the SQL of a question.
func (c *checker) readSQL(q *query, n, of *node, path string) {
	if q.dynamic = n.str() == dynamicSQL; q.dynamic {
		q.changes(q.resource.write)
		return
	}
	s, err := sqlite.One(n.str())
	if err != nil {
		c.fault("RES007", orElse(n, of), path, "%v", err)
		return
	}
	q.statement = s
	q.changes(!s.Reads())
	if !s.Reads() && !q.resource.write {
		c.fault("RES029", n, path, "must begin with SELECT or WITH")
	}
	if s.Marks != len(q.parameters) {
		c.fault("RES014", n, path, "has %d marks, and there are %d parameters", s.Marks, len(q.parameters))
	}
}

// changes notes whether a question may change the database.
func (q *query) changes(yes bool) {
	if q.method = "GET"; yes {
		q.method = "POST"
	}
}

// readBindings reads what is bound to the marks of the SQL, in their order.
func (c *checker) readBindings(q *query, n *node, path string) {
	list := n.get("parameters")
	if !list.is(arrayKind) {
		if list.there() || n.get("sql").str() != dynamicSQL && strings.Contains(n.get("sql").str(), "?") {
			c.fault("RES009", orElse(list, n), path+".parameters", "must be an array")
		}
		return
	}
	for i, item := range list.items {
		at := index(path+".parameters", i)
		position, z := item.get("position"), item.get("z")
		if !position.is(objectKind) || !z.is(objectKind) || position.get("key").str() == "" {
			c.fault("VAL040", item, at, "must have position.key and z")
			continue
		}
		if position.get("location").there() {
			c.loose("RES015", position, at+".position.location", "a query binds in order and has no location")
		}
		p := &parameter{key: position.get("key").str(), where: at, description: item.get("description").str()}
		c.readValue(q.route, p, position, at+".position.value")
		if slices.ContainsFunc(p.pieces, func(x piece) bool { return x.kind == serverPiece }) {
			c.fault("RES016", position, at+".position.value", "a server parameter does not go into a query")
		}
		p.z = c.readZ(q.file, z, at+".z")
		p.z.omitted = p.z.fallback // SQL has a mark for it in any case
		if p.z.primitive == "array" || p.z.primitive == "object" {
			c.fault("RES019", z, at+".z", "a query takes texts, numbers and booleans")
		}
		if p.description == "" {
			p.description = z.get("description").str()
		}
		q.parameters = append(q.parameters, p)
	}
}

func (r *resource) query(key, text string) *query {
	return &query{
		route: &route{file: r.file, name: r.name + "." + key, text: text, line: r.line, method: "GET", local: true}, resource: r, key: key,
	}
}

// Bounds of SQL that callers bring.
const (
	runRows    = 100
	runMaxRows = 1000
)

// runSQL is the question that the caller writes.
func (r *resource) runSQL() *query {
	text := "Ask the database " + r.name + " with SQL of your own: one SELECT."
	if r.write {
		text = "Run one SQL statement in the database " + r.name + ". It may change the database; before the first change a copy is kept."
	}
	q := r.query("runSql", text)
	q.dynamic = true
	q.changes(r.write)
	q.parameters = []*parameter{
		{key: "sql", pieces: []piece{{kind: userPiece}}, description: "one statement", z: zType{primitive: "string", min: "1"}},
		{
			key: "limit", pieces: []piece{{kind: userPiece}}, description: "the most rows to answer",
			z: zType{primitive: "number", min: "1", max: "1000", optional: true, fallback: []byte("100")},
		},
	}
	return q
}

// describeTables is the question what a database holds.
func (r *resource) describeTables() *query {
	q := r.query("describeTables", "The tables of the database "+r.name+", with their columns and types.")
	q.statement, _ = sqlite.One(`SELECT m.name AS table_name, p.name AS "column", p.type AS type FROM sqlite_master m ` +
		`JOIN pragma_table_info(m.name) p WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY m.name, p.cid`)
	text := func(description string) *node {
		return object("type", word("string"), "description", word(description))
	}
	q.output = object("mimeType", word("application/json"), "schema", object("type", word("array"), "items", object(
		"type", word("object"), "properties", object("table_name", text("name of the table"), "column", text("name of the column"), "type", text("type of the column in SQLite")))))
	return q
}

func word(s string) *node { return &node{kind: stringKind, text: s} }

// object makes an object of keys and nodes in turns.
func object(pairs ...any) *node {
	n := &node{kind: objectKind}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		value, _ := pairs[i+1].(*node)
		n.keys, n.items = append(n.keys, key), append(n.items, value)
	}
	return n
}
