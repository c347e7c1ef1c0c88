package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/internal/inflight"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

const (
	hostVersion = "4.0.0" // of Azure's host, whose protocol this is
	maxExcerpt  = 500     // bytes of an invalid response that are logged
	lastMoment  = time.Second
	inTheLog    = "; the operator finds in the log what it said"
)

// invocation is one run of a function.
type invocation struct {
	f       *Function
	context functionapp.Context
	params  map[string]string // for a resource template
}

// body returns the request body for the worker.
func (i invocation) body(id string) []byte {
	inv := functionapp.Invocation{
		Function: i.f.Name, Binding: i.f.binding, Type: i.f.Type, Context: i.context, Params: i.params, Time: time.Now(), ID: id,
	}
	if len(i.f.inputs) > 0 {
		doc, err := rawjson.Parse(i.context.Arguments)
		for _, in := range i.f.inputs {
			var text string
			if err == nil {
				text = argumentText(doc, in.argument)
			}
			inv.Inputs = append(inv.Inputs, functionapp.Member{Key: in.binding, Value: rawjson.AppendString(nil, rawjson.AppendString(nil, text))})
		}
	}
	return inv.Append(nil)
}

// argumentText returns an argument for a binding of its own: a string
// unchanged, other values as JSON, nothing as "".
func argumentText(doc *rawjson.Doc, name string) string {
	switch n := doc.Get(doc.Root(), name); doc.Kind(n) {
	case rawjson.Invalid, rawjson.Null:
		return ""
	case rawjson.String:
		return doc.Str(n)
	default:
		return string(doc.Raw(n))
	}
}

// run runs a function once, in the worker of the generation or in the current
// one. It returns how far the call got, also with an error.
func (s *generation) run(ctx context.Context, function string, fill func(*Function) (invocation, error)) (functionapp.Response, tenon.RequestState, error) {
	for {
		f, w, end, err := s.begin(s, function) //nolint:contextcheck // a worker outlives the call
		if err != nil {
			return functionapp.Response{}, tenon.NotSent, err
		}
		r, sent, err := w.call(ctx, f, fill)
		end()
		if err == nil || sent != tenon.NotSent || ctx.Err() != nil || !s.hasMoved(ctx, s, w) {
			return r, sent, err
		}
		// It was replaced before anything reached it.
	}
}

// call runs a function of the worker once.
func (w *worker) call(ctx context.Context, f *Function, fill func(*Function) (invocation, error)) (functionapp.Response, tenon.RequestState, error) {
	inv, err := fill(f)
	if err != nil {
		return functionapp.Response{}, tenon.NotSent, err
	}
	if limit := w.app.Host.Timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	for {
		session, err := w.answering(ctx)
		if err != nil {
			return functionapp.Response{}, tenon.NotSent, err
		}
		r, sent, err := session.invoke(ctx, w.o, inv)
		if err == nil || sent != tenon.NotSent || !session.ended() {
			return r, sent, err
		}
		// The process had ended before anything reached it: use the next one.
	}
}

// invoke sends the request of a call.
func (s *session) invoke(ctx context.Context, o Options, inv invocation) (functionapp.Response, tenon.RequestState, error) {
	sent := tenon.NotSent
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent = tenon.NoResponse }})
	id := guid()
	req, err := http.NewRequestWithContext(traced, http.MethodPost, s.url+"/"+inv.f.Name, bytes.NewReader(inv.body(id)))
	if err != nil {
		return functionapp.Response{}, sent, err
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Azure-Functions-Host/"+hostVersion)
	req.Header.Set(functionapp.InvocationID, id)
	req.Header.Set(functionapp.HostVersion, hostVersion)
	res, err := s.web.Do(req)
	if err != nil {
		return functionapp.Response{}, sent, s.broken(ctx, inv.f, sent, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(inflight.Reader(ctx, res.Body, res.ContentLength), o.MaxAnswer+1))
	if errors.Is(err, inflight.ErrFull) {
		return functionapp.Response{}, tenon.Responded, &tenon.Error{
			Code:    tenon.CodeRateLimited,
			Message: "The function answered, but its answer cannot be read: too many bytes wait for clients that read slowly.",
		}
	}
	if err != nil {
		return functionapp.Response{}, sent, s.broken(ctx, inv.f, sent, err)
	}
	s.answered.Store(true)
	r, err := readAnswer(inv.f, res, body, o.MaxAnswer)
	if err != nil {
		o.Logger.Warn("a function's answer cannot be used", "function", inv.f.Name, "invocation", id, "error", err, "answer", excerpt(body))
	}
	for _, line := range r.Logs {
		s.said.say(slog.LevelInfo, line, "function", inv.f.Name, "invocation", id) //nolint:contextcheck // a log line belongs to no call
	}
	return r, tenon.Responded, err
}

// readAnswer parses a worker's response. A worker's error text is meant for the
// operator and may contain anything: errors do not repeat it.
func readAnswer(f *Function, res *http.Response, body []byte, limit int64) (functionapp.Response, error) {
	bad := func(format string, args ...any) error {
		return &tenon.Error{Code: tenon.CodeServer, Message: "the function " + f.Name + " " + fmt.Sprintf(format, args...)}
	}
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case int64(len(body)) > limit:
		return functionapp.Response{}, bad("answered more than %d bytes", limit)
	case res.StatusCode < 200 || res.StatusCode > 299:
		return functionapp.Response{}, bad("failed: HTTP %d"+inTheLog, res.StatusCode)
	case media != "application/json" && !strings.HasSuffix(media, "+json"):
		return functionapp.Response{}, bad("answered %s, not JSON"+inTheLog, strconv.Quote(media))
	}
	r, err := functionapp.ReadResponse(body)
	if err != nil {
		return r, bad("answered what is no answer: %v"+inTheLog, err)
	}
	return r, nil
}

// broken describes a closed connection. If the worker has crashed, its process
// has ended or will in a moment.
func (s *session) broken(ctx context.Context, f *Function, sent tenon.RequestState, err error) error {
	if ctx.Err() != nil {
		return &tenon.Error{Code: tenon.CodeTimeout, Message: "the function " + f.Name + " did not answer in time", Err: ctx.Err()}
	}
	moment := time.NewTimer(lastMoment)
	defer moment.Stop()
	select {
	case <-s.child.Done():
		return &tenon.Error{Code: tenon.CodeNetwork, Message: fmt.Sprintf("the worker of the app ended while it ran the function %s (%s)", f.Name, s.child.Exit())}
	case <-ctx.Done():
	case <-moment.C:
	}
	if sent == tenon.NotSent {
		s.child.Kill("it does not listen any more")
	}
	if known, ok := errors.AsType[*tenon.Error](err); ok {
		return known
	}
	return &tenon.Error{Code: tenon.CodeNetwork, Message: "the connection to the worker broke while it ran the function " + f.Name, Err: errors.Unwrap(err)}
}

// excerpt returns the part of an invalid response that is logged.
func excerpt(body []byte) string {
	text := bytes.TrimSpace(body)
	if len(text) == 0 {
		return ""
	}
	cut := ""
	if len(text) > maxExcerpt {
		text, cut = text[:maxExcerpt], "…"
	}
	return strings.ToValidUTF8(string(text), "\uFFFD") + cut
}

// sessionOf derives a pseudonym of a subject for functions.
func sessionOf(c *tenon.Call) string {
	if c == nil || c.Subject == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("function app\x00" + string(c.Subject)))
	return hex.EncodeToString(sum[:16])
}

// maxClientText limits a client's name and version.
const maxClientText = 200

// clientOf returns the name and version that the client reported.
func clientOf(c *tenon.Call) functionapp.Client {
	if c == nil {
		return functionapp.Client{}
	}
	doc, err := rawjson.Parse(c.Client)
	if err != nil {
		return functionapp.Client{}
	}
	text := func(name string) string {
		s := doc.Str(doc.Get(doc.Root(), name))
		return strings.ToValidUTF8(s[:min(len(s), maxClientText)], "")
	}
	return functionapp.Client{Name: text("name"), Version: text("version")}
}

// guid returns a fresh random GUID.
func guid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
