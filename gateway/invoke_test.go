package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
)

// unspeakable is an error whose text needs more than a nil pointer.
type unspeakable struct{ text string }

func (e *unspeakable) Error() string { return e.text }

// TestErrorsThatCannotBeRead: what a typed nil pointer costs is the text of the
// error; whether the call was executed is known as before.
func TestErrorsThatCannotBeRead(t *testing.T) {
	for name, err := range map[string]error{
		"a type of its own": (*unspeakable)(nil), "ours": (*tenon.Error)(nil), "inside another": fmt.Errorf("no: %w", (*unspeakable)(nil)),
		"below ours": &tenon.Error{Code: tenon.CodeServer, Message: "no", Err: (*unspeakable)(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			g := one(tenon.Tool{}, func(context.Context, *tenon.Call) (tenon.Response, error) {
				return tenon.Response{Execution: tenon.Execution{Unsafe: tenon.Responded}}, err
			})
			res := call(t, g, `{}`)
			if c := verdictOf(t, res); !res.IsError || c.Executed != "yes" {
				t.Errorf("executed %s: %s", c.Executed, res.Content[0].Text)
			}
		})
	}
}

// TestErrorsWithoutEnd: of a text that nobody reads to its end the beginning is
// delivered.
func TestErrorsWithoutEnd(t *testing.T) {
	for name, err := range map[string]error{
		"plain": &unspeakable{strings.Repeat("é", 5<<20)},
		"ours":  &tenon.Error{Code: tenon.CodeServer, Message: strings.Repeat("é", 5<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			g := one(tenon.Tool{}, func(context.Context, *tenon.Call) (tenon.Response, error) { return tenon.Response{}, err })
			if text := string(call(t, g, `{}`).Content[0].Text); len(text) > 70<<10 || !strings.Contains(text, "ééé… (10485760 bytes in all)") {
				t.Errorf("%d bytes: %.200s", len(text), text)
			}
		})
	}
}
