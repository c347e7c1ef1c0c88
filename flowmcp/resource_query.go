package flowmcp

import (
	"bytes"
	"context"
	"errors"
	"strconv"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/sandbox"
	"github.com/tenon-mcp/tenon/internal/sqlite"
)

// backend is shared by the queries of a source.
type backend struct {
	options *Options
	runner  *runner
	dbs     *databases
}

// tool returns the tool of a query.
func (q query) tool(name string, s backend) tenon.Tool {
	t := tenon.Tool{
		Name: name, Description: q.Description, Meta: q.asTool().definitionMeta(), Policy: s.options.Policy, Envelope: s.options.Envelope,
		Contract: contractProvider{q.asTool(), s.options}, Origin: q.asTool().diagnostic(""),
		Labels: func() tenon.Labels {
			return labels(q.File, "resource", q.Resource.Name, q.ID(), tenon.ToolName(q.Key+"_"+q.File.Namespace))
		},
		Handler: func(ctx context.Context, c *tenon.Call) (tenon.Response, error) { return q.call(ctx, c, s) },
	}
	yes, no := true, false
	t.Annotations.OpenWorld = &no
	if q.ReadOnly() {
		t.Annotations.ReadOnly = &yes
	} else {
		t.Annotations.Destructive = &yes
		t.Confirmation = tenon.ConfirmRule{Mode: s.options.Confirm, Action: tenon.RunTool, Effect: "the query " + q.ID() + " may change or delete what is in the database"}
	}
	if q.Resource.Source == "http" {
		t.Annotations.OpenWorld = nil
	}
	return t
}

// call runs the query and lets the file's handler change the result.
func (q query) call(ctx context.Context, c *tenon.Call, s backend) (tenon.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	args := c.Args
	if len(args) == 0 {
		args = []byte("{}")
	}
	doc, err := rawjson.Parse(args)
	if err != nil {
		return tenon.Response{}, validationError("the arguments are not valid JSON")
	}
	statement, err := q.bind(doc, s.options)
	if err != nil {
		return tenon.Response{}, err
	}
	response, err := q.execute(ctx, statement, s)
	if err != nil || !q.File.Handlers.Needs(q.Resource.Name) {
		return response, err
	}
	polished, err := q.runHandler(ctx, doc, statement, response.Body, s)
	if err != nil {
		return tenon.Response{Execution: response.Execution}, err
	}
	response.Body, response.Repairs = polished.Body, polished.Repairs
	return response, nil
}

// bind returns the statement of a call with its bound values.
func (q query) bind(doc *rawjson.Doc, o *Options) (sqlite.Query, error) {
	out := sqlite.Query{Statement: q.Statement, MaxBytes: int(min(o.MaxResponse, 1<<30))}
	v := values{doc: doc}
	if q.Dynamic {
		out.MaxRows = format.DefaultRunRows
		if n, err := strconv.ParseFloat(string(doc.Raw(doc.Get(doc.Root(), "limit"))), 64); err == nil {
			out.MaxRows = int(max(1, min(n, format.MaxRunRows)))
		}
		var err error
		out.Statement, err = sqlite.Parse(doc.Str(doc.Get(doc.Root(), "sql")))
		if err != nil {
			return out, validationError(err.Error())
		}
		return out, nil
	}
	for _, p := range q.Parameters {
		out.Args = append(out.Args, v.bindValue(p))
	}
	return out, nil
}

// bindValue returns the value to bind for a parameter, or nil.
func (v *values) bindValue(p *format.Parameter) any {
	if !p.IsArgument() {
		text, ok := v.text(p)
		if !ok {
			return nil
		}
		return text
	}
	return scalar(v.argument(p, p.Pieces[0]))
}

// scalar converts a JSON value for SQLite.
func scalar(raw []byte) any {
	switch {
	case raw == nil, bytes.Equal(raw, []byte("null")):
		return nil
	case raw[0] == '"':
		return format.PlainText(raw)
	case raw[0] == 't', raw[0] == 'f':
		return raw[0] == 't'
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return n
	}
	return string(raw)
}

// execute runs the query. It opens the database for writing only where
// reading is not enough.
func (q query) execute(ctx context.Context, statement sqlite.Query, s backend) (tenon.Response, error) {
	path, stale, err := q.path(ctx, s)
	if err != nil {
		return tenon.Response{}, err
	}
	reads := statement.Reads()
	if !reads && q.ReadOnly() {
		return tenon.Response{}, validationError("only one SELECT is allowed; this database is read-only")
	}
	if reads {
		response, err := q.read(ctx, statement, path, stale, s)
		if q.ReadOnly() || !sqlite.IsReadOnly(err) {
			return response, q.queryError(err)
		}
	}
	return q.write(ctx, statement, path, s)
}

// path returns the current path of the query's database.
func (q query) path(ctx context.Context, s backend) (path string, stale bool, err error) {
	if q.Resource.Source == "http" {
		return s.dbs.download(ctx, q.Resource, s.options)
	}
	path, err = q.Resource.Find(s.options.reading())
	if err != nil {
		return "", false, &tenon.Error{Code: tenon.CodeServer, Message: "the database is missing", Err: err}
	}
	return path, false, nil
}

func (q query) read(ctx context.Context, statement sqlite.Query, path string, stale bool, s backend) (tenon.Response, error) {
	db, err := s.dbs.get(path, false)
	if err != nil {
		return tenon.Response{}, err
	}
	a, err := db.Query(ctx, statement)
	if err != nil {
		return tenon.Response{}, err
	}
	response := tenon.Response{Body: a.Rows, MediaType: "application/json"}
	if a.More || stale {
		response.Meta = []byte(`{"flowmcp/rows":{"returned":` + strconv.Itoa(a.Count) + `,"more":` + strconv.FormatBool(a.More) + `,"stale":` + strconv.FormatBool(stale) + `}}`)
	}
	return response, nil
}

func (q query) write(ctx context.Context, statement sqlite.Query, path string, s backend) (tenon.Response, error) {
	if err := s.dbs.backUp(ctx, path); err != nil {
		return tenon.Response{}, &tenon.Error{Code: tenon.CodeInternal, Message: "cannot back up the database, so nothing was changed", Err: err}
	}
	db, err := s.dbs.get(path, true)
	if err != nil {
		return tenon.Response{}, q.queryError(err)
	}
	a, err := db.Exec(ctx, statement)
	if err != nil {
		return tenon.Response{}, q.queryError(err) // SQLite rolls back a failed statement
	}
	body := []byte(`{"changes":` + strconv.FormatInt(a.Changes, 10) + `,"lastInsertRowid":` + strconv.FormatInt(a.LastID, 10) + `}`)
	return tenon.Response{Body: body, MediaType: "application/json", Execution: tenon.Execution{Unsafe: tenon.Responded}}, nil
}

// queryError converts an error of SQLite.
func (q query) queryError(err error) error {
	said, ok := errors.AsType[*sqlite.Error](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &tenon.Error{Code: tenon.CodeTimeout, Message: "the query took too long", Err: err}
	case q.Dynamic && ok:
		return validationError("SQL error: " + said.Message)
	case ok:
		return &tenon.Error{Code: tenon.CodeServer, Message: "SQL error: " + said.Message}
	case q.Dynamic:
		return validationError(err.Error())
	}
	return &tenon.Error{Code: tenon.CodeServer, Message: "cannot query the database: " + err.Error(), Err: err}
}

// runHandler runs the handler of the query, if the file has one.
func (q query) runHandler(ctx context.Context, doc *rawjson.Doc, statement sqlite.Query, rows []byte, s backend) (tenon.Response, error) {
	args := append([]byte(`{"resource":`), rawjson.AppendString(nil, q.Resource.Name)...)
	args = append(append(args, `,"query":`...), rawjson.AppendString(nil, q.Key)...)
	args = append(append(args, `,"struct":{"queryName":`...), rawjson.AppendString(nil, q.Key)...)
	args = append(append(args, `,"sql":`...), rawjson.AppendString(nil, statement.Text)...)
	args = append(append(args, `},"payload":`...), q.asTool().payload(doc)...)
	args = append(append(append(args, `,"response":`...), rows...), '}')
	x := &execution{tool: q.asTool(), options: s.options, runner: s.runner, stage: "postRequest"}
	out, err := s.runner.run(ctx, q.File, sandbox.Call{Function: "resource", Args: args, Budget: s.options.HandlerTimeout, HostCall: x.hostCall})
	if err != nil {
		return tenon.Response{}, x.explain("postRequest", err)
	}
	var got outcome
	if err := got.read(out); err != nil {
		return tenon.Response{}, handlerError("postRequest", "its result cannot be read", err)
	}
	return x.response("postRequest", got, 0, nil)
}
