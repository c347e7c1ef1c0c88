package openapi

import (
	"context"
	"errors"

	"github.com/tenon-mcp/tenon"
)

// CallerToken is the access token of one caller for the operation's server.
type CallerToken struct {
	Text    Secret
	Missing string // why this caller has none; empty: there is a Text
	// Reject forgets a token that the server refused, and reports whether another one
	// may be accepted; nil: there is no other.
	Reject func() bool
}

// callerToken gets the token of the caller of ctx.
func (c *Credential) callerToken(ctx context.Context, scopes []string) (got appliedCredential, why string, err error) {
	token, err := c.PerCaller(ctx, scopes)
	if err != nil || token.Missing != "" {
		return appliedCredential{}, token.Missing, err
	}
	return appliedCredential{text: string(token.Text), reject: token.Reject}, "", nil
}

// notObtained explains why a credential cannot be obtained. A source of tokens may
// tell the caller what to do; what others say is for the log.
func notObtained(s *scheme, err error) error {
	told := &tenon.Error{Code: tenon.CodeAuthentication, Message: "cannot obtain the credential of " + s.String(), Err: err}
	if said, ok := errors.AsType[*tenon.Error](err); ok {
		told.Code, told.Err, told.RetryAfter, told.Suggestions = said.Code, said.Err, said.RetryAfter, said.Suggestions
		told.Message += ": " + said.Message
		return told
	}
	told.Message += "; see the server log"
	return told
}
