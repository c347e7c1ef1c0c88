package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/schema"
)

// Observer is told of every call when it has ended, refused ones included.
type Observer interface {
	// ObserveCall is called in the goroutine of the call, before the caller has
	// its result: it must not block. r is valid until it returns, and what r
	// refers to must not be changed.
	ObserveCall(ctx context.Context, r *CallRecord)
}

// CallRecord is a call that has ended.
type CallRecord struct {
	Call     *tenon.Call   // as it came
	Tool     *Tool         // that performed it; nil: there is no such tool
	Args     []byte        // the arguments that Tool was called with, as they came
	Consent  Consent       // whether and by whom the call was confirmed
	Began    time.Time     // when it came
	Duration time.Duration // until its result, with the time in which input was pending
	Result   *tenon.Result // nil: Err
	Err      error         // as Gateway.Call returns it
	Checked  Checked       // the response; of a stream its first part
}

// Checked is the response of a call as output validation found it, before any repair.
type Checked struct {
	Verdict    tenon.Verdict // empty: no response was validated
	Status     int           // as it came; 0: no HTTP
	MediaType  string        // as it came; empty: no body
	Declared   bool          // a declared response covers it, of this status and media type
	AsStatus   string
	AsMedia    string
	Against    *schema.Schema // of that response; nil: its body is not described
	Violations []schema.Violation
	Body       []byte // the JSON value that was validated against Against, which may be kept, but not changed; nil: there was none
}

// Code returns the code of the failure; empty: it succeeded, or asks for input.
func (r *CallRecord) Code() tenon.Code {
	switch {
	case r.Err == nil:
		return r.Result.Code
	case unwinds(r.Err) && !errors.As(r.Err, new(*tenon.ScopeError)):
		return ""
	}
	return tenon.CodeOf(r.Err)
}

// Consent says how the confirmation of a call ended.
type Consent string

// The consents.
const (
	ConsentNotNeeded Consent = ""         // the tool needs none, or the call did not come so far
	ConsentAsked     Consent = "asked"    // the call ended with the question
	ConsentArgument  Consent = "argument" // the caller confirmed by an argument, after it was asked
	ConsentPerson    Consent = "person"   // a person filled in the form
	ConsentDeclined  Consent = "declined" // none that counts was given: declined, not answered, used before
)

// observed performs a call and tells the observers.
func (g *Gateway) observed(ctx context.Context, c *tenon.Call, refused error) (*tenon.Result, error) {
	r, _ := g.records.Get().(*CallRecord)
	if r == nil {
		r = new(CallRecord)
	}
	r.Call, r.Args, r.Began = c, c.Args, time.Now()
	r.Result, r.Err = g.call(ctx, c, r, refused)
	r.Duration = time.Since(r.Began)
	for _, o := range g.observers {
		o.ObserveCall(ctx, r)
	}
	res, err := r.Result, r.Err
	*r = CallRecord{}
	g.records.Put(r)
	return res, err
}

// performs notes which tool performs the call. r is nil if nobody observes.
func (r *CallRecord) performs(e *Tool, args []byte) {
	if r != nil {
		r.Tool, r.Args = e.Unadapted(), args
	}
}

// consented notes how the confirmation of the call ended.
func (r *CallRecord) consented(c Consent) {
	if r != nil {
		r.Consent = c
	}
}

// checked notes the outcome of output validation.
func (r *CallRecord) checked(resp *tenon.Response, j *outputCheck) {
	if r == nil || r.Checked.Verdict != "" {
		return
	}
	r.Checked = Checked{Verdict: j.verdict, Status: resp.Status, MediaType: resp.MediaType, Against: j.against, Violations: j.violations}
	if j.against != nil && j.form == envelope.JSON {
		r.Checked.Body = resp.Body
	}
	if d := j.declared; d != nil {
		r.Checked.Declared, r.Checked.AsStatus, r.Checked.AsMedia = true, d.Status, d.Media
	}
}

// callLog logs one line for each call: subject, tool, duration and outcome, but
// neither arguments nor results.
type callLog struct{ log *slog.Logger }

// ObserveCall implements [Observer].
func (l callLog) ObserveCall(ctx context.Context, r *CallRecord) {
	if !l.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	line := []slog.Attr{slog.String("tool", r.Call.Tool), slog.Duration("duration", r.Duration)}
	if r.Call.Subject != "" {
		line = append(line, slog.String("caller", string(r.Call.Subject)))
	}
	if r.Err != nil {
		l.log.LogAttrs(ctx, slog.LevelInfo, "call", append(line, slog.String("error", string(tenon.CodeOf(r.Err))))...)
		return
	}
	if r.Result.IsError {
		line = append(line, slog.String("error", string(r.Result.Code)))
	}
	o := &r.Result.Outcome
	if o.Status != 0 {
		line = append(line, slog.Int("status", o.Status))
	}
	if o.Verdict != "" {
		line = append(line, slog.String("verdict", string(o.Verdict)), slog.String("executed", o.Executed))
	}
	l.log.LogAttrs(ctx, slog.LevelInfo, "call", line...)
}
