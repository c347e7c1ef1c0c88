package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
)

// maxMessage bounds what is delivered and logged of the text of an error.
const maxMessage = 64 << 10

// invoke runs the tool's handler. A panic becomes an error with an id that links
// the caller's message to the log, and so does an error that cannot be read, such
// as a nil pointer of a type whose methods need one.
func (g *Gateway) invoke(ctx context.Context, e *Tool, c *tenon.Call, resp *tenon.Response) (err error) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			id := rand.Text()[:12]
			g.log.Error("a handler panicked", "tool", e.tool.Name, "incident", id, "panic", clip(fmt.Sprint(p)), "stack", string(debug.Stack()))
			executed := resp.Execution
			*resp = tenon.Response{Execution: executed}
			if !returned {
				resp.Execution = tenon.Execution{Reads: tenon.NoResponse}
				if !is(e.tool.Annotations.ReadOnly) {
					resp.Execution = tenon.Execution{Unsafe: tenon.NoResponse, Idempotent: is(e.tool.Annotations.Idempotent)}
				}
			}
			err = tenon.Errorf(tenon.CodeInternal, "internal error in the tool; see incident %s in the server log", id)
		}
	}()
	*resp, err = e.tool.Handler(ctx, c)
	if returned = true; err != nil {
		_, _ = err.Error(), tenon.CodeOf(err) // as they are needed later
	}
	return err
}

// clip cuts a text that is longer than anybody reads.
func clip(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes in all)", strings.ToValidUTF8(text[:maxMessage], ""), len(text))
}

// handlerError turns a handler's error into a result.
func (g *Gateway) handlerError(e *Tool, r *tenon.Response, err error) *tenon.Result {
	f := toolError{code: tenon.CodeOf(err), message: err.Error(), resp: tenon.Response{Execution: r.Execution, Status: r.Status}, judged: outputCheck{verdict: tenon.Unchecked}, silent: true}
	f.suggestions = envelope.SilenceSuggestions(string(f.code), r.Execution.Executed(), r.Execution.Retry())
	if known, ok := errors.AsType[*tenon.Error](err); ok {
		f.message, f.retryAfter = known.Message, known.RetryAfter
		if known.Suggestions != nil {
			f.suggestions = known.Suggestions
		}
		if known.Err != nil {
			g.log.Warn("call failed", "tool", e.tool.Name, "code", f.code, "error", clip(err.Error()))
		}
	}
	f.message = clip(f.message)
	return errorResult(e, f)
}

func is(hint *bool) bool { return hint != nil && *hint }
