package format

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/sqlite"
)

// Resource is a database or a text that a file declares.
type Resource struct {
	File        *File
	Name        string
	Source      string // sqlite, markdown or http
	writable    bool   // callers may modify the database
	Origin      string // inline, project or global; empty: the older form
	Location    string // path of the file below its origin
	URL         string // of source http
	MaxAge      int    // maximum age of a download in seconds
	Description string // description
	Queries     []*Query
	Line        int
	Broken      bool
	Hidden      bool // excluded by the operator
}

// Query is one query of a database.
type Query struct {
	*Tool // name, description, parameters and output; its method tells whether it modifies the database

	Resource  *Resource
	Key       string
	Statement sqlite.Statement
	Dynamic   bool // the caller passes the SQL
	Hidden    bool // excluded by the operator
}

// dynamicSQL is the placeholder for SQL that the caller passes.
const dynamicSQL = "{{DYNAMIC_SQL}}"

const (
	maxQueries  = 7 // declared by a file; two more are added to each database
	downloadAge = 24 * 60 * 60
)

// ID returns the qualified name.
func (r *Resource) ID() string { return QualifiedName(r.File.Namespace, r.File.Path, r.Name) }

// readResources reads and checks the resources of a file.
func (c *checker) readResources(f *File) {
	f.Main.Get("resources").Members(func(name string, n *module.Node) {
		path := "main.resources." + name
		c.tool = path
		r := &Resource{
			File: f, Name: name, Source: n.Get("source").Str(), Origin: n.Get("origin").Str(), Location: n.Get("name").Str(),
			URL: n.Get("url").Str(), Description: n.Get("description").Str(), Line: c.m.Line(place(n)), writable: n.Get("mode").Str() == "file-based",
		}
		f.Resources = append(f.Resources, r)
		if !n.Is(module.Object) || !n.Valid() {
			c.error("RES001", n, path, "must be a plain object of literals")
		} else {
			c.checkResource(r, n, path)
		}
		r.Broken = c.broken[path]
		c.tool = ""
	})
}

func (c *checker) checkResource(r *Resource, n *module.Node, path string) {
	if r.Description == "" {
		c.lenient("RES002", n, path+".description", "is missing or no string")
	}
	switch r.Source {
	case "sqlite":
		c.checkDatabase(r, n, path)
	case "sqlite-gtfs", "geo-geojson", "geo-csv":
		c.checkAddOn(r, n, path)
		return
	case "http":
		if !n.Get("path").Exists() {
			c.strictOnly("RES036", n, path+".path", "is missing; downloads are stored in the user's cache folder")
		}
		if !strings.HasPrefix(r.URL, "https://") {
			c.error("RES024", orElse(n.Get("url"), n), path+".url", "must be an https address")
		}
		r.MaxAge = downloadAge
		if age := n.Get("cacheTtl"); age.Exists() {
			if r.MaxAge = Seconds(age); r.MaxAge == 0 {
				c.error("RES024", age, path+".cacheTtl", "must be a positive number of seconds")
			}
		}
		if r.writable {
			c.error("RES037", n, path+".mode", "a download cannot be modified")
		}
	case "markdown":
		c.checkLocation(r, n, path, ".md", ".markdown", ".txt")
		if mode := n.Get("mode"); mode.Exists() {
			c.lenient("RES038", mode, path+".mode", "is not allowed for markdown")
		}
		if queries := n.Get("queries"); queries.Exists() {
			c.lenient("RES039", queries, path+".queries", "are not allowed for markdown")
		}
		return
	default:
		c.error("RES001", orElse(n.Get("source"), n), path+".source", "must be sqlite, markdown or http")
		return
	}
	c.readQueries(r, n, path)
}

// checkAddOn rejects a resource whose tools an add-on, JavaScript outside the
// file, would create.
func (c *checker) checkAddOn(r *Resource, n *module.Node, path string) {
	mode, addOn := n.Get("mode").Str(), n.Get("addon").Str()
	switch {
	case r.Source == "sqlite-gtfs" && mode == "url":
		c.error("RES043", n.Get("mode"), path+".mode", "url is not allowed for sqlite-gtfs")
	case r.Source == "sqlite-gtfs" && mode != "file-based":
		c.error("RES030", orElse(n.Get("mode"), n), path+".mode", "must be file-based for sqlite-gtfs")
	case r.Source == "sqlite-gtfs" && addOn == "":
		c.error("RES031", n, path+".addon", "must name the add-on")
	case r.Source != "sqlite-gtfs" && (mode != "url" || addOn == "" || !strings.HasPrefix(r.URL, "https://")):
		c.error("RES044", n, path, "must have the mode url, an https url and an addon")
	case r.Source == "geo-csv" && !n.Get("parseConfig").Is(module.Object):
		c.error("RES045", n, path+".parseConfig", "must describe the format of the lines")
	}
	c.error("RES046", orElse(n.Get("source"), n), path+".source",
		"the tools of a %s come from the add-on %q, which is not run; describe the data as sqlite, with queries of its own", r.Source, addOn)
}

// Seconds returns a positive integer, or 0.
func Seconds(n *module.Node) int {
	total := 0
	if !n.Is(module.Number) || len(n.Text) > 9 {
		return 0
	}
	for _, b := range []byte(n.Text) {
		if b < '0' || b > '9' {
			return 0
		}
		total = total*10 + int(b-'0')
	}
	return total
}

// checkDatabase checks the location of a database and its mode.
func (c *checker) checkDatabase(r *Resource, n *module.Node, path string) {
	if old := n.Get("database"); old.Exists() && r.Origin == "" {
		c.strictOnly("RES003", old, path+".database", "is an older form; use origin and name")
		r.Location = old.Str()
		rest, global := strings.CutPrefix(r.Location, "~/.flowmcp/")
		if r.Origin = "inline"; global {
			r.Origin, r.Location = "global", rest
		}
		c.checkName(r, old, path+".database", ".db")
		return
	}
	switch mode := n.Get("mode"); mode.Str() {
	case "in-memory", "file-based":
	default:
		c.lenient("RES025", orElse(mode, n), path+".mode", "must be in-memory or file-based; in-memory is assumed")
	}
	c.checkLocation(r, n, path, ".db")
	switch {
	case r.writable && r.Origin != "project":
		c.error("RES037", n, path+".origin", "a database that is changed must have the origin project")
	case r.Origin == "inline":
		c.strictWarning("RES040", n, path+".origin", "a database beside its schema is discouraged")
	}
}

// checkLocation checks origin and name.
func (c *checker) checkLocation(r *Resource, n *module.Node, path string, extensions ...string) {
	if !slices.Contains([]string{"inline", "project", "global"}, r.Origin) {
		c.error("RES026", orElse(n.Get("origin"), n), path+".origin", "must be inline, project or global")
	}
	c.checkName(r, orElse(n.Get("name"), n), path+".name", extensions...)
}

func (c *checker) checkName(r *Resource, n *module.Node, path string, extensions ...string) {
	switch {
	case !filepath.IsLocal(filepath.FromSlash(r.Location)) || strings.Contains(r.Location, "\\"):
		c.error("RES004", n, path, "must name a file below its origin")
	case !slices.Contains(extensions, filepath.Ext(r.Location)):
		c.error("RES027", n, path, "must end with %s", strings.Join(extensions, " or "))
	}
}

// readQueries reads the queries of a database and adds the two that every
// database has.
func (c *checker) readQueries(r *Resource, n *module.Node, path string) {
	queries := n.Get("queries")
	if queries.Exists() && !queries.Is(module.Object) {
		c.error("RES007", queries, path+".queries", "must be a plain object")
		return
	}
	if !queries.Exists() {
		c.strictOnly("RES041", n, path+".queries", "is missing; runSql and describeTables are served anyway")
	}
	if count := len(queries.ObjectKeys()); count > maxQueries {
		c.lenient("RES028", queries, path+".queries", "has %d queries; %d are allowed", count, maxQueries)
	}
	owner := c.tool
	queries.Members(func(key string, q *module.Node) {
		c.tool = path + ".queries." + key
		c.readQuery(r, key, q, c.tool)
		c.tool = owner
	})
	for _, added := range []*Query{r.runSQL(), r.describeTables()} {
		if !queries.Get(added.Key).Exists() {
			r.Queries = append(r.Queries, added)
		}
	}
}

func (c *checker) readQuery(r *Resource, key string, n *module.Node, path string) {
	q := r.query(key, n.Get("description").Str())
	q.Line, q.Output, q.Tests = c.m.Line(place(n)), n.Get("output"), n.Get("tests")
	r.Queries = append(r.Queries, q)
	if !camelPattern.MatchString(key) {
		c.strictOnly("RES018", n, path, "the name is not camelCase")
	}
	if q.Description == "" {
		c.lenient("RES008", n, path+".description", "is missing or no string")
	}
	c.readBindings(q, n, path)
	c.readSQL(q, n.Get("sql"), n, path+".sql")
	if key != "getSchema" { // the format exempts this query, which prepares a database
		c.checkRows(q, n, path+".output")
		if c.tests {
			c.checkTests(q.Tool, n, path+".tests", queryCases())
		}
	}
	q.Broken = c.broken[path]
}

// checkRows checks the output block of a query.
func (c *checker) checkRows(q *Query, n *module.Node, path string) {
	if !q.Output.Get("mimeType").Exists() || !q.Output.Get("schema").Exists() {
		c.lenient("RES010", orElse(q.Output, n), path, "must have a mimeType and a schema")
	}
	if !q.Output.Exists() {
		return
	}
	c.checkOutput(n, path)
	if root := q.Output.Get("schema").Get("type"); root.Exists() && root.Str() != "array" {
		c.lenient("RES021", root, path+".schema.type", "must be array: a query answers rows")
	}
}

// readSQL reads the SQL of a query.
func (c *checker) readSQL(q *Query, n, of *module.Node, path string) {
	if q.Dynamic = n.Str() == dynamicSQL; q.Dynamic {
		q.changes(q.Resource.writable)
		return
	}
	s, err := sqlite.Parse(n.Str())
	if err != nil {
		c.error("RES007", orElse(n, of), path, "%v", err)
		return
	}
	q.Statement = s
	q.changes(!s.Reads())
	if !s.Reads() && !q.Resource.writable {
		c.error("RES029", n, path, "must begin with SELECT or WITH")
	}
	if s.Marks != len(q.Parameters) {
		c.error("RES014", n, path, "has %d marks, and there are %d parameters", s.Marks, len(q.Parameters))
	}
}

// changes sets whether a query may modify the database.
func (q *Query) changes(yes bool) {
	if q.Method = "GET"; yes {
		q.Method = "POST"
	}
}

// readBindings reads the parameters that are bound to the SQL, in their order.
func (c *checker) readBindings(q *Query, n *module.Node, path string) {
	list := n.Get("parameters")
	if !list.Is(module.Array) {
		if list.Exists() || n.Get("sql").Str() != dynamicSQL && strings.Contains(n.Get("sql").Str(), "?") {
			c.error("RES009", orElse(list, n), path+".parameters", "must be an array")
		}
		return
	}
	for i, item := range list.Items {
		at := index(path+".parameters", i)
		position, z := item.Get("position"), item.Get("z")
		if !position.Is(module.Object) || !z.Is(module.Object) || position.Get("key").Str() == "" {
			c.error("VAL040", item, at, "must have position.key and z")
			continue
		}
		if position.Get("location").Exists() {
			c.lenient("RES015", position, at+".position.location", "a query binds in order and has no location")
		}
		p := &Parameter{Key: position.Get("key").Str(), path: at, Description: item.Get("description").Str()}
		c.readValue(q.Tool, p, position, at+".position.value")
		if slices.ContainsFunc(p.Pieces, func(x Piece) bool { return x.Kind == ServerPiece }) {
			c.error("RES016", position, at+".position.value", "a server parameter is not allowed in a query")
		}
		p.Type = c.readZ(q.File, z, at+".z")
		p.Type.Omitted = p.Type.Default // SQL always binds a value
		if p.Type.Primitive == "array" || p.Type.Primitive == "object" {
			c.error("RES019", z, at+".z", "a query takes texts, numbers and booleans")
		}
		if p.Description == "" {
			p.Description = z.Get("description").Str()
		}
		q.Parameters = append(q.Parameters, p)
	}
}

func (r *Resource) query(key, text string) *Query {
	return &Query{
		Tool: &Tool{File: r.File, Name: r.Name + "." + key, Description: text, Line: r.Line, Method: "GET", Local: true}, Resource: r, Key: key,
	}
}

// Limits of SQL that callers pass.
const (
	DefaultRunRows = 100
	MaxRunRows     = 1000
)

// runSQL returns the query whose SQL the caller passes.
func (r *Resource) runSQL() *Query {
	text := "Query the database " + r.Name + " with your own SQL: one SELECT."
	if r.writable {
		text = "Run one SQL statement in the database " + r.Name + ". It may change the database; a backup is made before the first change."
	}
	q := r.query("runSql", text)
	q.Dynamic = true
	q.changes(r.writable)
	q.Parameters = []*Parameter{
		{Key: "sql", Pieces: []Piece{{Kind: ArgumentPiece}}, Description: "one statement", Type: ZodType{Primitive: "string", Min: "1"}},
		{
			Key: "limit", Pieces: []Piece{{Kind: ArgumentPiece}}, Description: "maximum number of rows",
			Type: ZodType{Primitive: "number", Min: "1", Max: "1000", Optional: true, Default: []byte("100")},
		},
	}
	return q
}

// describeTables returns the query for the tables of a database.
func (r *Resource) describeTables() *Query {
	q := r.query("describeTables", "The tables of the database "+r.Name+", with their columns and types.")
	q.Statement, _ = sqlite.Parse(`SELECT m.name AS table_name, p.name AS "column", p.type AS type FROM sqlite_master m ` +
		`JOIN pragma_table_info(m.name) p WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY m.name, p.cid`)
	text := func(description string) *module.Node {
		return newObject("type", newString("string"), "description", newString(description))
	}
	q.Output = newObject("mimeType", newString("application/json"), "schema", newObject("type", newString("array"), "items", newObject(
		"type", newString("object"), "properties", newObject("table_name", text("name of the table"), "column", text("name of the column"), "type", text("type of the column in SQLite")))))
	return q
}

func newString(s string) *module.Node { return &module.Node{Kind: module.String, Text: s} }

// newObject builds an object from alternating keys and nodes.
func newObject(pairs ...any) *module.Node {
	n := &module.Node{Kind: module.Object}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		value, _ := pairs[i+1].(*module.Node)
		n.Keys, n.Items = append(n.Keys, key), append(n.Items, value)
	}
	return n
}

// Folder returns the folder of a resource's origin, or "" where the operator
// named none.
func (r *Resource) Folder(o *Options) string {
	in := func(base string) string {
		if base == "" {
			return ""
		}
		return filepath.Join(base, "resources")
	}
	switch r.Origin {
	case "inline":
		return in(filepath.Dir(r.File.Path))
	case "project":
		return in(o.ProjectDir)
	case "global":
		return in(o.GlobalDir)
	}
	return ""
}

// Find returns the path of a resource's file, which must be below its origin
// even after resolving links.
func (r *Resource) Find(o *Options) (string, error) {
	dirs := []string{r.Folder(o)}
	if dirs[0] == "" {
		return "", fmt.Errorf("no folder is set for the origin %s", r.Origin)
	}
	dirs = append(dirs, filepath.Dir(dirs[0])) // the older form has paths below the base itself
	var missing error
	for _, dir := range dirs {
		path, err := Inside(dir, filepath.FromSlash(r.Location))
		if err == nil {
			return path, nil
		}
		missing = errors.Join(missing, err)
	}
	return "", fmt.Errorf("file %s not found in %s", r.Location, dirs[0])
}

// Inside returns the path of a regular file below dir, even after resolving
// links.
func Inside(dir, name string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fs.ErrInvalid
	}
	return filepath.Join(dir, name), nil
}
