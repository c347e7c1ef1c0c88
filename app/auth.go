package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/internal/proc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi"
)

// credentials are those of OpenAPI documents, and where they may go.
type credentials struct {
	origins []string // that credentials may go to

	values []sourced[openapi.Credential]
	certs  []sourced[openapi.ClientCert]
}

// sourced is what one flag gives to a source.
type sourced[T any] struct {
	name  string // [SOURCE/]KEY
	value T
	used  bool
}

// readCredentials checks the settings and looks up what is in the environment.
func readCredentials(ctx context.Context, o *SourceOptions, e Env) (*credentials, error) {
	f := &credentials{origins: o.AuthOrigin}
	for _, flag := range o.Auth {
		name, where, ok := strings.Cut(flag, "=")
		if !ok || name == "" {
			return nil, invalid("auth", " wants SCHEME=env:NAME, file:PATH, keyring:NAME, command:CMD, caller:HEADER, exchange:AUDIENCE, oauth2:..., user or none")
		}
		if given(f.values, name) {
			return nil, invalid("auth", " %s is given twice", name)
		}
		where, absent := optional(e, where)
		if absent {
			continue
		}
		c, err := credential(ctx, e, where)
		if err != nil {
			return nil, invalid("auth", " %s: %v", name, err)
		}
		f.values = append(f.values, sourced[openapi.Credential]{name: name, value: c})
	}
	for _, flag := range o.ClientCert {
		name, files, _ := strings.Cut(flag, "=")
		cert, key, _ := strings.Cut(files, ",")
		if !strings.Contains(name, "://") || cert == "" {
			return nil, invalid("client-cert", " wants https://host=FILE or https://host=CERT,KEY")
		}
		if given(f.certs, name) {
			return nil, invalid("client-cert", " %s is given twice", name)
		}
		f.certs = append(f.certs, sourced[openapi.ClientCert]{name: name, value: openapi.ClientCert{Cert: cert, Key: key}})
	}
	return f, nil
}

func given[T any](list []sourced[T], name string) bool {
	return slices.ContainsFunc(list, func(s sourced[T]) bool { return s.name == name })
}

// credential reads what stands behind SCHEME=. Its errors do not repeat it:
// somebody may have written the secret itself.
func credential(ctx context.Context, e Env, where string) (openapi.Credential, error) {
	kind, rest, _ := strings.Cut(where, ":")
	switch {
	case (e.DryRun || e.Player != nil) && where != "none": // none is sent
		return openapi.Credential{Value: "hidden"}, nil
	case where == "none":
		return openapi.Credential{None: true}, nil
	case where == "user":
		return openapi.Credential{User: true}, nil
	case rest == "":
	case kind == "env":
		value, err := variableOf(e, rest)
		return openapi.Credential{Value: openapi.Secret(value)}, err
	case kind == "keyring":
		value, err := e.keyring(rest)
		return openapi.Credential{Value: openapi.Secret(value)}, err
	case kind == "file":
		return openapi.Credential{File: rest}, nil
	case kind == "caller":
		return openapi.Credential{Caller: rest}, nil
	case kind == "exchange":
		return exchanging(rest)
	case kind == "command":
		return openapi.Credential{Fetch: newCommand(e, rest).value}, nil
	case kind == "oauth2":
		return oauthClient(ctx, e, rest)
	}
	return openapi.Credential{}, errors.New("it wants env:NAME, file:PATH, keyring:NAME, command:CMD, caller:HEADER, exchange:AUDIENCE, oauth2:..., user or none; the secret itself does not belong there")
}

func variableOf(e Env, name string) (string, error) {
	value, _ := e.Getenv(name)
	if value == "" {
		return "", fmt.Errorf("the environment has no variable %s", name)
	}
	return value, nil
}

// apply gives a source what is meant for it.
func (f *credentials) apply(o *openapi.Options, source string, alone bool) (err error) {
	o.AuthOrigins = f.origins
	if o.Credentials, err = pick(f.values, "auth", source, alone); err == nil {
		o.ClientCerts, err = pick(f.certs, "client-cert", source, alone)
	}
	return err
}

// pick returns what is for one of several sources. A name without a source
// means the only one.
func pick[T any](list []sourced[T], flag, source string, alone bool) (map[string]T, error) {
	all := map[string]T{}
	for i := range list {
		s := &list[i]
		key, here := strings.CutPrefix(s.name, source+"/")
		named, _, _ := strings.Cut(s.name, "://") // the slashes of an origin are no source's
		switch {
		case !here && !alone && !strings.Contains(named, "/"):
			return nil, invalid(flag, " %s: there are several descriptions; say of which it is, as --%s %s/%s=...", s.name, flag, source, s.name)
		case !here && !alone:
			continue
		case !here:
			key = s.name
		}
		s.used = true
		all[key] = s.value
	}
	return all, nil
}

// named tells what is given to a source that is there.
func (f *credentials) named(used map[string]bool) {
	for _, c := range f.values {
		used["--auth "+c.name] = used["--auth "+c.name] || c.used
	}
	for _, c := range f.certs {
		used["--client-cert "+c.name] = used["--client-cert "+c.name] || c.used
	}
}

// callerHeaders names the headers that sources may see of a client's request.
func (f *credentials) callerHeaders() []string {
	var names []string
	for _, c := range f.values {
		if c.value.Caller != "" {
			names = append(names, c.value.Caller)
		}
	}
	return names
}

const maxClientFile = 64 << 10 // bytes

// oauthClient reads the client of an authorization server, from env:NAME,
// file:PATH, keyring:NAME or command:CMD.
func oauthClient(ctx context.Context, e Env, where string) (openapi.Credential, error) {
	kind, rest, _ := strings.Cut(where, ":")
	var text string
	var err error
	switch {
	case rest == "":
		err = errors.New("behind oauth2: it wants env:NAME, file:PATH, keyring:NAME or command:CMD")
	case kind == "env":
		text, err = variableOf(e, rest)
	case kind == "keyring":
		text, err = e.keyring(rest)
	case kind == "file":
		text, err = clientFile(rest)
	case kind == "command":
		text, err = newCommand(e, rest).value(ctx)
	default:
		err = errors.New("behind oauth2: it wants env:NAME, file:PATH, keyring:NAME or command:CMD; the secret itself does not belong there")
	}
	if err != nil {
		return openapi.Credential{}, err
	}
	client, err := parseClient(strings.TrimSpace(text))
	return openapi.Credential{OAuth: client}, err
}

func clientFile(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxClientFile+1))
	if err == nil && len(b) > maxClientFile {
		err = fmt.Errorf("it is larger than %d KiB", maxClientFile>>10)
	}
	return string(b), err
}

// parseClient reads ID:SECRET, or a JSON object with the names of RFC 6749. Its
// errors hold names of members and no values.
func parseClient(text string) (*openapi.OAuth, error) {
	if !strings.HasPrefix(text, "{") {
		id, secret, ok := strings.Cut(text, ":")
		if !ok {
			return nil, errors.New("an OAuth client is written as ID:SECRET or as a JSON object")
		}
		return &openapi.OAuth{ClientID: id, ClientSecret: openapi.Secret(secret)}, nil
	}
	doc, err := rawjson.Parse([]byte(text))
	if err != nil {
		return nil, errors.New("the OAuth client is not JSON")
	}
	client := &openapi.OAuth{Params: map[string]string{}}
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		if doc.Kind(n) != rawjson.String {
			return nil, fmt.Errorf("member %s of the OAuth client is not a string", doc.Key(n))
		}
		if err := setClient(client, doc.Key(n), doc.Str(n)); err != nil {
			return nil, err
		}
	}
	return client, nil
}

func setClient(c *openapi.OAuth, member, value string) error {
	switch member {
	case "client_id":
		c.ClientID = value
	case "client_secret":
		c.ClientSecret = openapi.Secret(value)
	case "refresh_token":
		c.RefreshToken = openapi.Secret(value)
	case "token_url", "token_uri":
		c.TokenURL = value
	case "scope":
		c.Scopes = strings.Fields(value)
	case "auth_method": // the names of RFC 7591
		if value != "client_secret_basic" && value != "client_secret_post" {
			return errors.New("auth_method is client_secret_basic or client_secret_post")
		}
		c.InBody = value == "client_secret_post"
	case "audience", "resource":
		c.Params[member] = value
	case "type": // some tools write what kind of file it is
	default:
		return fmt.Errorf("the OAuth client has the unknown member %s; known are client_id, client_secret, refresh_token, token_url, scope, auth_method, audience and resource", member)
	}
	return nil
}

const (
	commandTime   = 15 * time.Second // for a command that prints a credential
	commandKept   = time.Minute      // for which what it printed is used
	maxCommandOut = 64 << 10         // bytes that are read of it
)

// command is a program that prints a credential. What it printed is used for a
// while; its errors are nobody's to read, because they may hold the secret.
type command struct {
	path string
	args []string
	env  []string

	turn  chan struct{} // held by who looks at the rest
	kept  string
	until time.Time
}

func newCommand(e Env, line string) *command {
	words := strings.Fields(line)
	c := &command{turn: make(chan struct{}, 1)}
	if len(words) > 0 {
		c.path, c.args = words[0], words[1:]
	}
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "APPDATA", "USERPROFILE", "SYSTEMROOT", "TEMP"} {
		if v, ok := e.Getenv(name); ok {
			c.env = append(c.env, name+"="+v)
		}
	}
	return c
}

func (c *command) value(ctx context.Context) (string, error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-c.turn }()
	if time.Now().Before(c.until) {
		return c.kept, nil
	}
	out, err := c.run()
	if err != nil {
		return "", fmt.Errorf("command %s: %w", c.path, err)
	}
	c.kept, c.until = out, time.Now().Add(commandKept)
	return out, nil
}

// run is not bound to the call that wants the value: the next one waits for it
// as well.
func (c *command) run() (string, error) {
	child, err := proc.Start(proc.Command{Path: c.path, Args: c.args, Env: c.env, Pipes: true})
	if err != nil {
		return "", err
	}
	defer child.Close()
	_ = child.Stdin.Close()
	late := time.AfterFunc(commandTime, func() { child.Kill("it took too long") })
	defer late.Stop()
	out, err := io.ReadAll(io.LimitReader(child.Stdout, maxCommandOut))
	if err != nil {
		return "", err
	}
	if len(out) == maxCommandOut {
		return "", errors.New("it prints too much")
	}
	<-child.Done()
	if exit := child.Exit(); exit.Code != 0 {
		return "", errors.New(exit.String())
	}
	return string(out), nil
}
