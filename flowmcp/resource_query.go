package flowmcp

import (
	"bytes"
	"context"
	"errors"
	"strconv"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/sandbox"
	"github.com/tenon-mcp/tenon/internal/sqlite"
)

// store is what the queries of a source share.
type store struct {
	options *Options
	runner  *runner
	dbs     *databases
}

// tool is the tool of a query.
func (q *query) tool(name string, s store) tenon.Tool {
	t := tenon.Tool{
		Name: name, Description: q.text, Meta: q.definitionMeta(), Policy: s.options.Policy, Envelope: s.options.Shape,
		Contract: promise{q.route, s.options}, Origin: q.fault(""),
		Handler: func(ctx context.Context, c *tenon.Call) (tenon.Response, error) { return q.call(ctx, c, s) },
	}
	yes, no := true, false
	t.Annotations.OpenWorld = &no
	if q.readOnly() {
		t.Annotations.ReadOnly = &yes
	} else {
		t.Annotations.Destructive = &yes
		t.Confirmation = tenon.ConfirmRule{Mode: s.options.Consent, Action: tenon.RunTool, Effect: "the query " + q.id() + " may change or delete what is in the database"}
	}
	if q.resource.source == "http" {
		t.Annotations.OpenWorld = nil
	}
	return t
}

// call asks the database, and lets the file's handler change the answer.
func (q *query) call(ctx context.Context, c *tenon.Call, s store) (tenon.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	args := c.Args
	if len(args) == 0 {
		args = []byte("{}")
	}
	doc, err := rawjson.Parse(args)
	if err != nil {
		return tenon.Response{}, invalid("the arguments are no JSON")
	}
	question, err := q.question(doc, s.options)
	if err != nil {
		return tenon.Response{}, err
	}
	reply, err := q.askDatabase(ctx, question, s)
	if err != nil || !q.file.handlers.needs(q.resource.name) {
		return reply, err
	}
	polished, err := q.polish(ctx, doc, question, reply.Body, s)
	if err != nil {
		return tenon.Response{Execution: reply.Execution}, err
	}
	reply.Body, reply.Repairs = polished.Body, polished.Repairs
	return reply, nil
}

// question is the statement of a call with what is bound to it.
func (q *query) question(doc *rawjson.Doc, o *Options) (sqlite.Question, error) {
	out := sqlite.Question{Statement: q.statement, MaxBytes: int(min(o.MaxAnswer, 1<<30))}
	v := values{doc: doc}
	if q.dynamic {
		out.MaxRows = runRows
		if n, err := strconv.ParseFloat(string(doc.Raw(doc.Get(doc.Root(), "limit"))), 64); err == nil {
			out.MaxRows = int(max(1, min(n, runMaxRows)))
		}
		var err error
		out.Statement, err = sqlite.One(doc.Str(doc.Get(doc.Root(), "sql")))
		if err != nil {
			return out, invalid(err.Error())
		}
		return out, nil
	}
	for _, p := range q.parameters {
		out.Args = append(out.Args, v.bound(p))
	}
	return out, nil
}

// bound is what is bound for a parameter: nil where there is no value.
func (v *values) bound(p *parameter) any {
	if !p.whole() {
		text, ok := v.text(p)
		if !ok {
			return nil
		}
		return text
	}
	return scalar(v.argument(p, p.pieces[0]))
}

// scalar is a JSON value as SQLite takes it.
func scalar(raw []byte) any {
	switch {
	case raw == nil, bytes.Equal(raw, []byte("null")):
		return nil
	case raw[0] == '"':
		return plainText(raw)
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

// askDatabase asks the database. Only what cannot be read is written.
func (q *query) askDatabase(ctx context.Context, question sqlite.Question, s store) (tenon.Response, error) {
	path, stale, err := q.database(ctx, s)
	if err != nil {
		return tenon.Response{}, err
	}
	reads := question.Reads()
	if !reads && q.readOnly() {
		return tenon.Response{}, invalid("only one SELECT is taken; this database is not changed")
	}
	if reads {
		reply, err := q.read(ctx, question, path, stale, s)
		if q.readOnly() || !sqlite.IsReadOnly(err) {
			return reply, q.failed(err)
		}
	}
	return q.write(ctx, question, path, s)
}

// database is the path of the query's database as it is now.
func (q *query) database(ctx context.Context, s store) (path string, stale bool, err error) {
	if q.resource.source == "http" {
		return s.dbs.download(ctx, q.resource, s.options)
	}
	path, err = q.resource.find(s.options)
	if err != nil {
		return "", false, &tenon.Error{Code: tenon.CodeServer, Message: "the database is not there any more", Err: err}
	}
	return path, false, nil
}

func (q *query) read(ctx context.Context, question sqlite.Question, path string, stale bool, s store) (tenon.Response, error) {
	db, err := s.dbs.get(path, false)
	if err != nil {
		return tenon.Response{}, err
	}
	a, err := db.Query(ctx, question)
	if err != nil {
		return tenon.Response{}, err
	}
	reply := tenon.Response{Body: a.Rows, MediaType: "application/json"}
	if a.More || stale {
		reply.Meta = []byte(`{"flowmcp/rows":{"returned":` + strconv.Itoa(a.Count) + `,"more":` + strconv.FormatBool(a.More) + `,"stale":` + strconv.FormatBool(stale) + `}}`)
	}
	return reply, nil
}

func (q *query) write(ctx context.Context, question sqlite.Question, path string, s store) (tenon.Response, error) {
	if err := s.dbs.keep(ctx, path); err != nil {
		return tenon.Response{}, &tenon.Error{Code: tenon.CodeInternal, Message: "no copy of the database can be kept, so nothing was changed", Err: err}
	}
	db, err := s.dbs.get(path, true)
	if err != nil {
		return tenon.Response{}, q.failed(err)
	}
	a, err := db.Exec(ctx, question)
	if err != nil {
		return tenon.Response{}, q.failed(err) // SQLite takes a statement back that fails
	}
	body := []byte(`{"changes":` + strconv.FormatInt(a.Changes, 10) + `,"lastInsertRowid":` + strconv.FormatInt(a.LastID, 10) + `}`)
	return tenon.Response{Body: body, MediaType: "application/json", Execution: tenon.Execution{Unsafe: tenon.Responded}}, nil
}

// failed is what SQLite said, for the one who wrote the SQL.
func (q *query) failed(err error) error {
	said, ok := errors.AsType[*sqlite.Error](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &tenon.Error{Code: tenon.CodeTimeout, Message: "the query took too long", Err: err}
	case q.dynamic && ok:
		return invalid("SQL error: " + said.Message)
	case ok:
		return &tenon.Error{Code: tenon.CodeServer, Message: "SQL error: " + said.Message}
	case q.dynamic:
		return invalid(err.Error())
	}
	return &tenon.Error{Code: tenon.CodeServer, Message: "the database cannot be asked: " + err.Error(), Err: err}
}

// polish runs the handler of the query, if the file has one for it.
func (q *query) polish(ctx context.Context, doc *rawjson.Doc, question sqlite.Question, rows []byte, s store) (tenon.Response, error) {
	args := append([]byte(`{"resource":`), rawjson.AppendString(nil, q.resource.name)...)
	args = append(append(args, `,"query":`...), rawjson.AppendString(nil, q.key)...)
	args = append(append(args, `,"struct":{"queryName":`...), rawjson.AppendString(nil, q.key)...)
	args = append(append(args, `,"sql":`...), rawjson.AppendString(nil, question.Text)...)
	args = append(append(args, `},"payload":`...), q.payload(doc)...)
	args = append(append(append(args, `,"response":`...), rows...), '}')
	x := &execution{route: q.route, options: s.options, runner: s.runner, stage: "postRequest"}
	out, err := s.runner.run(ctx, q.file, sandbox.Call{Function: "resource", Args: args, Budget: s.options.HandlerTime, Ask: x.ask})
	if err != nil {
		return tenon.Response{}, x.explain("postRequest", err)
	}
	var got outcome
	if err := got.read(out); err != nil {
		return tenon.Response{}, handlerError("postRequest", "its result cannot be read", err)
	}
	return x.reply("postRequest", got, 0, nil)
}
