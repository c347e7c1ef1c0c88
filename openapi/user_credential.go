package openapi

import (
	"context"
	"errors"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// UserCredential is the credential of one user for one origin.
type UserCredential struct {
	Value Secret // as [Credential].Value
	// Reject says that the server refused it, and reports whether it is worth asking
	// for another one in the same call.
	Reject func() bool
}

// WantedCredential is what a call needs of its user.
type WantedCredential struct {
	Scheme  string // its name in the document
	Kind    string // its type, for people
	Origin  string // the only one that it is sent to
	Service string // what the document calls itself
	Basic   bool   // it is user:password
}

// UserCredentials finds the credential of the user behind a call, or asks for it. Its
// errors are for the caller.
type UserCredentials func(ctx context.Context, c *tenon.Call, want WantedCredential) (UserCredential, error)

// mayBeUsers refuses credentials of users where nobody has them.
func (a *api) mayBeUsers(s *scheme, c Credential) error {
	switch {
	case !c.User:
		return nil
	case a.options.UserCredential == nil:
		return errors.New("nothing is configured that stores credentials of users")
	case !s.supported:
		return errors.New("a user cannot type what " + s.kind + " needs")
	}
	return nil
}

// userCredential gets the user's own credential for the operation's server.
func (o *operation) userCredential(ctx context.Context, c *tenon.Call, s *scheme) (appliedCredential, error) {
	got, err := o.api.options.UserCredential(ctx, c, WantedCredential{
		Scheme: s.name, Kind: s.kind, Origin: originOf(o.planned().base), Service: o.api.title(), Basic: s.prefix == "Basic ",
	})
	if told, ok := errors.AsType[*tenon.Error](err); ok {
		before := *told
		before.Message = notSent + told.Message
		return appliedCredential{}, &before
	}
	if err != nil {
		return appliedCredential{}, err
	}
	text := string(got.Value)
	if text == "" || len(text) > maxCredential || strings.ContainsFunc(text, isControl) {
		return appliedCredential{}, &tenon.Error{Code: tenon.CodeAuthentication, Message: notSent + "the stored credential of " + s.String() + " cannot be sent"}
	}
	return appliedCredential{text: text, user: true, reject: got.Reject}, nil
}

// notSent begins the message of a call that had no credential.
const notSent = "not sent: "

// afterRefusal is an error of a call whose request was sent, with a credential that
// the server refused.
func afterRefusal(err error) error {
	told, ok := errors.AsType[*tenon.Error](err)
	if !ok {
		return err
	}
	after := *told
	after.Message = "the service refused the stored credential (401): " + strings.TrimPrefix(told.Message, notSent)
	return &after
}

// title is what the document calls itself.
func (a *api) title() string {
	const longest = 100 // bytes, on a page
	title := strings.TrimSpace(a.doc.Root.Get("info").StrAt("title"))
	if title == "" || len(title) > longest {
		return a.base.Host
	}
	return title
}
