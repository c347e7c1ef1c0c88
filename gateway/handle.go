package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/shape"
)

// handle runs the tool's handler. A panic is an error with an id that links
// what the caller sees to the log.
func (g *Gateway) handle(ctx context.Context, e *Entry, c *tenon.Call, reply *tenon.Reply) (err error) {
	defer func() {
		if p := recover(); p != nil {
			id := rand.Text()[:12]
			g.log.Error("a handler panicked", "tool", e.tool.Name, "incident", id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			*reply = tenon.Reply{}
			reply.Sent = tenon.Sent{Reads: tenon.SentNoAnswer}
			if !is(e.tool.Hints.ReadOnly) {
				reply.Sent = tenon.Sent{Unsafe: tenon.SentNoAnswer, Repeatable: is(e.tool.Hints.Idempotent)}
			}
			err = tenon.Errorf(tenon.CodeInternal, "the tool failed inside; the operator finds incident %s in the log", id)
		}
	}()
	*reply, err = e.tool.Handler(ctx, c)
	return err
}

// failed turns a handler's error into a result.
func (g *Gateway) failed(e *Entry, r *tenon.Reply, err error) *tenon.Result {
	f := failure{code: tenon.CodeOf(err), message: err.Error(), reply: tenon.Reply{Sent: r.Sent, Status: r.Status}, judged: judgement{verdict: tenon.Unchecked}, silent: true}
	f.suggestions = shape.SilenceSuggestions(string(f.code), r.Sent.Executed(), r.Sent.Retry())
	if known, ok := errors.AsType[*tenon.Error](err); ok {
		f.message = known.Message
		if known.Suggestions != nil {
			f.suggestions = known.Suggestions
		}
		if known.Err != nil {
			g.log.Warn("call failed", "tool", e.tool.Name, "code", f.code, "error", err)
		}
	}
	return shapeFailure(e, f)
}

func is(hint *bool) bool { return hint != nil && *hint }
