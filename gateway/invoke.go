package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
)

// invoke runs the tool's handler. A panic is an error with an id that links
// what the caller sees to the log.
func (g *Gateway) invoke(ctx context.Context, e *Tool, c *tenon.Call, reply *tenon.Response) (err error) {
	defer func() {
		if p := recover(); p != nil {
			id := rand.Text()[:12]
			g.log.Error("a handler panicked", "tool", e.tool.Name, "incident", id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			*reply = tenon.Response{}
			reply.Execution = tenon.Execution{Reads: tenon.NoResponse}
			if !is(e.tool.Annotations.ReadOnly) {
				reply.Execution = tenon.Execution{Unsafe: tenon.NoResponse, Idempotent: is(e.tool.Annotations.Idempotent)}
			}
			err = tenon.Errorf(tenon.CodeInternal, "the tool failed inside; the operator finds incident %s in the log", id)
		}
	}()
	*reply, err = e.tool.Handler(ctx, c)
	return err
}

// handlerError turns a handler's error into a result.
func (g *Gateway) handlerError(e *Tool, r *tenon.Response, err error) *tenon.Result {
	f := toolError{code: tenon.CodeOf(err), message: err.Error(), reply: tenon.Response{Execution: r.Execution, Status: r.Status}, judged: outputCheck{verdict: tenon.Unchecked}, silent: true}
	f.suggestions = envelope.SilenceSuggestions(string(f.code), r.Execution.Executed(), r.Execution.Retry())
	if known, ok := errors.AsType[*tenon.Error](err); ok {
		f.message = known.Message
		if known.Suggestions != nil {
			f.suggestions = known.Suggestions
		}
		if known.Err != nil {
			g.log.Warn("call failed", "tool", e.tool.Name, "code", f.code, "error", err)
		}
	}
	return errorResult(e, f)
}

func is(hint *bool) bool { return hint != nil && *hint }
