package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
			return nil, invalid("auth", " wants SCHEME=env:NAME, file:PATH, command:CMD, caller:HEADER, oauth2:... or none")
		}
		c := openapi.Credential{Value: "hidden"}
		if !e.DryRun || where == "none" {
			var err error
			if c, err = credential(ctx, e, where); err != nil {
				return nil, invalid("auth", " %s: %v", name, err)
			}
		}
		if given(f.values, name) {
			return nil, invalid("auth", " %s is given twice", name)
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
	case where == "none":
		return openapi.Credential{None: true}, nil
	case rest == "":
	case kind == "env":
		value, err := variableOf(e, rest)
		return openapi.Credential{Value: openapi.Secret(value)}, err
	case kind == "file":
		return openapi.Credential{File: rest}, nil
	case kind == "caller":
		return openapi.Credential{Caller: rest}, nil
	case kind == "command":
		return openapi.Credential{Fetch: newCommand(e, rest).value}, nil
	case kind == "oauth2":
		return oauthClient(ctx, e, rest)
	}
	return openapi.Credential{}, errors.New("it wants env:NAME, file:PATH, command:CMD, caller:HEADER, oauth2:... or none; the secret itself does not belong there")
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
