package flowmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/sandbox"
	"github.com/tenon-mcp/tenon/internal/sqlite"
)

// rowsRequest is a handler's query to a database that its file describes.
type rowsRequest struct {
	Resource string          `json:"resource"`
	Query    string          `json:"query"`
	Args     json.RawMessage `json:"args"` // arguments of the query's tool; runSql also takes values to bind
}

// maxBound limits the values that a handler binds to its own SQL.
const maxBound = 100

// rows queries a database for a handler. It only reads, whatever the mode of
// the database, and within the limits of a caller's SQL.
func (x *execution) rows(ctx context.Context, args []byte) (sandbox.HostResult, error) {
	var w rowsRequest
	if err := json.Unmarshal(args, &w); err != nil {
		return sandbox.HostResult{}, errors.New("unknown host call")
	}
	found := queryOf(x.tool.File, w.Resource, w.Query)
	if found == nil {
		return sandbox.HostResult{}, fmt.Errorf("unknown query %s.%s", w.Resource, w.Query)
	}
	q := query{found}
	doc, err := rawjson.Parse(w.Args)
	if err != nil || doc.Kind(doc.Root()) != rawjson.Object {
		return sandbox.HostResult{}, fmt.Errorf("the query %s takes an object", q.Name)
	}
	if err := q.checkArguments(doc); err != nil {
		return sandbox.HostResult{}, err
	}
	statement, err := q.bind(doc, x.options)
	if err != nil {
		return sandbox.HostResult{}, errors.New(plainMessage(err))
	}
	if q.Dynamic {
		if err := bind(&statement, doc); err != nil {
			return sandbox.HostResult{}, err
		}
	}
	if statement.MaxRows == 0 {
		statement.MaxRows = format.MaxRunRows
	}
	if !statement.Reads() {
		return sandbox.HostResult{}, errors.New("handlers may only read databases")
	}
	x.querying.Lock()
	defer x.querying.Unlock()
	statement.MaxBytes = max(min(statement.MaxBytes, int(x.budget.Remaining())), 1)
	s := backend{x.options, x.runner, x.runner.dbs}
	path, stale, err := q.path(ctx, s)
	if err != nil {
		return sandbox.HostResult{}, errors.New(plainMessage(err))
	}
	response, err := q.read(ctx, statement, path, stale, s)
	if err != nil {
		return sandbox.HostResult{}, errors.New(plainMessage(q.queryError(err)))
	}
	x.budget.Take(int64(len(response.Body)))
	return sandbox.HostResult{Value: []byte("null"), Text: response.Body}, nil
}

// queryOf returns a query that the file's handlers may use, or nil.
func queryOf(f *format.File, resource, key string) *format.Query {
	for _, r := range f.Resources {
		if r.Name != resource || r.Broken {
			continue
		}
		for _, q := range r.Queries {
			if q.Key == key && !q.Broken {
				return q
			}
		}
	}
	return nil
}

// checkArguments validates the arguments of a query, as input validation does for its
// tool.
func (q query) checkArguments(doc *rawjson.Doc) error {
	for _, p := range q.Parameters {
		for _, name := range p.Arguments() {
			switch n := doc.Get(doc.Root(), name); {
			case n == rawjson.None && !p.Type.Optional:
				return fmt.Errorf("the query %s needs %s", q.Name, name)
			case n != rawjson.None && !p.Type.Accepts(doc.Raw(n)):
				return fmt.Errorf("%s is invalid for the query %s", name, q.Name)
			}
		}
	}
	return nil
}

// bind binds the values for a handler's own SQL.
func bind(statement *sqlite.Query, doc *rawjson.Doc) error {
	list := doc.Get(doc.Root(), "values")
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		if kind := doc.Kind(n); kind == rawjson.Object || kind == rawjson.Array || len(statement.Args) == maxBound {
			return fmt.Errorf("values are at most %d texts, numbers, booleans and nulls", maxBound)
		}
		statement.Args = append(statement.Args, scalar(doc.Raw(n)))
	}
	if statement.Marks != len(statement.Args) {
		return fmt.Errorf("the SQL has %d parameters, but there are %d values", statement.Marks, len(statement.Args))
	}
	return nil
}

// appendStores appends the databases that the file's handlers may query, with the
// names of their queries, as JSON.
func appendStores(dst []byte, f *format.File) []byte {
	all := map[string][]string{}
	for _, r := range f.Resources {
		for _, q := range r.Queries {
			if queryOf(f, r.Name, q.Key) == q {
				all[r.Name] = append(all[r.Name], q.Key)
			}
		}
		slices.Sort(all[r.Name])
	}
	text, err := json.Marshal(all) // strings always marshal
	if err != nil {
		return append(dst, "{}"...)
	}
	return append(dst, text...)
}
