package tenon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tenon-mcp/tenon/internal/shape"
)

// handle runs the tool's handler. A panic is an error with an id that links
// what the caller sees to the log.
func (g *Gateway) handle(ctx context.Context, e *Entry, c *Call, reply *Reply) (err error) {
	defer func() {
		if p := recover(); p != nil {
			id := rand.Text()[:12]
			g.log.Error("a handler panicked", "tool", e.tool.Name, "incident", id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			*reply = Reply{}
			reply.Sent = Sent{Reads: SentNoAnswer}
			if !is(e.tool.Hints.ReadOnly) {
				reply.Sent = Sent{Unsafe: SentNoAnswer, Repeatable: is(e.tool.Hints.Idempotent)}
			}
			err = errorf(CodeInternal, "the tool failed inside; the operator finds incident %s in the log", id)
		}
	}()
	*reply, err = e.tool.Handler(ctx, c)
	return err
}

// failed turns a handler's error into a result.
func (g *Gateway) failed(e *Entry, r *Reply, err error) *Result {
	f := failure{code: CodeOf(err), message: err.Error(), reply: Reply{Sent: r.Sent, Status: r.Status}, judged: judgement{verdict: Unchecked}, silent: true}
	f.suggestions = shape.SilenceSuggestions(string(f.code), r.Sent.Executed(), r.Sent.Retry())
	if known, ok := errors.AsType[*Error](err); ok {
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
