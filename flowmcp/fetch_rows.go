package flowmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/sandbox"
	"github.com/tenon-mcp/tenon/internal/sqlite"
)

// wantedRows is what a handler asks of a database that its file describes.
type wantedRows struct {
	Resource string          `json:"resource"`
	Query    string          `json:"query"`
	Args     json.RawMessage `json:"args"` // those of the query's tool; runSql takes values for its marks too
}

// maxBound bounds the values that a handler binds to SQL of its own.
const maxBound = 100

// rows asks a database for a handler. It only reads, whatever the mode of the
// database, and within the bounds of a caller's SQL.
func (x *execution) rows(ctx context.Context, args []byte) (sandbox.Answer, error) {
	var w wantedRows
	if err := json.Unmarshal(args, &w); err != nil {
		return sandbox.Answer{}, errors.New("this cannot be asked for")
	}
	q := x.route.file.queryOf(w.Resource, w.Query)
	if q == nil {
		return sandbox.Answer{}, fmt.Errorf("there is no query %s.%s", w.Resource, w.Query)
	}
	doc, err := rawjson.Parse(w.Args)
	if err != nil || doc.Kind(doc.Root()) != rawjson.Object {
		return sandbox.Answer{}, fmt.Errorf("the query %s takes an object", q.name)
	}
	if err := q.admits(doc); err != nil {
		return sandbox.Answer{}, err
	}
	question, err := q.question(doc, x.options)
	if err != nil {
		return sandbox.Answer{}, errors.New(plainMessage(err))
	}
	if q.dynamic {
		if err := bind(&question, doc); err != nil {
			return sandbox.Answer{}, err
		}
	}
	if question.MaxRows == 0 {
		question.MaxRows = runMaxRows
	}
	if !question.Reads() {
		return sandbox.Answer{}, errors.New("a handler only reads a database")
	}
	x.queries.Lock()
	defer x.queries.Unlock()
	question.MaxBytes = max(min(question.MaxBytes, int(x.budget.Left())), 1)
	s := store{x.options, x.runner, x.runner.dbs}
	path, stale, err := q.database(ctx, s)
	if err != nil {
		return sandbox.Answer{}, errors.New(plainMessage(err))
	}
	reply, err := q.read(ctx, question, path, stale, s)
	if err != nil {
		return sandbox.Answer{}, errors.New(plainMessage(q.failed(err)))
	}
	x.budget.Take(int64(len(reply.Body)))
	return sandbox.Answer{Value: []byte("null"), Text: reply.Body}, nil
}

// queryOf is a query that the file's handlers may ask; nil: there is none.
func (f *file) queryOf(resource, key string) *query {
	for _, r := range f.resources {
		if r.name != resource || r.broken {
			continue
		}
		for _, q := range r.queries {
			if q.key == key && !q.broken {
				return q
			}
		}
	}
	return nil
}

// admits checks the arguments of a query, as input validation does for its tool.
func (q *query) admits(doc *rawjson.Doc) error {
	for _, p := range q.parameters {
		for _, name := range p.arguments() {
			switch n := doc.Get(doc.Root(), name); {
			case n == rawjson.None && !p.z.optional:
				return fmt.Errorf("the query %s needs %s", q.name, name)
			case n != rawjson.None && !p.z.accepts(doc.Raw(n)):
				return fmt.Errorf("%s does not fit the query %s", name, q.name)
			}
		}
	}
	return nil
}

// bind binds the values beside a handler's own SQL to its marks.
func bind(question *sqlite.Question, doc *rawjson.Doc) error {
	list := doc.Get(doc.Root(), "values")
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		if kind := doc.Kind(n); kind == rawjson.Object || kind == rawjson.Array || len(question.Args) == maxBound {
			return fmt.Errorf("values are at most %d texts, numbers, booleans and nulls", maxBound)
		}
		question.Args = append(question.Args, scalar(doc.Raw(n)))
	}
	if question.Marks != len(question.Args) {
		return fmt.Errorf("the SQL has %d marks, and there are %d values", question.Marks, len(question.Args))
	}
	return nil
}

// stores are the databases that the file's handlers may ask, with their
// queries, as JSON.
func (f *file) stores(dst []byte) []byte {
	all := map[string][]string{}
	for _, r := range f.resources {
		for _, q := range r.queries {
			if f.queryOf(r.name, q.key) == q {
				all[r.name] = append(all[r.name], q.key)
			}
		}
		slices.Sort(all[r.name])
	}
	text, err := json.Marshal(all) // names are JSON in any case
	if err != nil {
		return append(dst, "{}"...)
	}
	return append(dst, text...)
}
