package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/openapi"
)

// authFlags say where the credentials of OpenAPI documents come from. No
// value stands in a flag: command lines are read by others.
type authFlags struct {
	from  []string
	certs []string

	origins []string // that credentials may go to

	hide        bool // what is given is neither read nor fetched: a word stands in its place
	credentials []sourced[openapi.Credential]
	clientCerts []sourced[openapi.ClientCert]
}

// sourced is what one flag gives to a source.
type sourced[T any] struct {
	name  string // [SOURCE/]KEY
	value T
	used  bool
}

func (f *authFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.from, "auth", nil, "where the credential of a security scheme comes from: [SOURCE/]SCHEME[@https://host]=env:NAME, file:PATH, "+
		"command:CMD (run without a shell), caller:HEADER (of the client's request to --http), oauth2: before one of the first three, or none (repeatable; docs/credentials.md)")
	cmd.Flags().StringArrayVar(&f.origins, "auth-origin", nil, "let credentials and secret headers go to this origin, https://host, and to no other that is not named so or behind the @ of --auth (repeatable; default: to where the descriptions send them when they are first read)")
	cmd.Flags().StringArrayVar(&f.certs, "client-cert", nil, "show a client certificate to a server: [SOURCE/]https://host=FILE, or =CERT,KEY where the key is in another file (repeatable)")
}

// read checks the flags and looks up what is in the environment.
func (f *authFlags) read(ctx context.Context, e env) error {
	f.credentials, f.clientCerts = nil, nil
	for _, flag := range f.from {
		name, where, ok := strings.Cut(flag, "=")
		if !ok || name == "" {
			return usagef("--auth wants SCHEME=env:NAME, file:PATH, command:CMD, caller:HEADER, oauth2:... or none")
		}
		c := openapi.Credential{Value: "hidden"}
		if !f.hide || where == "none" {
			var err error
			if c, err = credential(ctx, e, where); err != nil {
				return usagef("--auth %s: %v", name, err)
			}
		}
		if given(f.credentials, name) {
			return usagef("--auth %s is given twice", name)
		}
		f.credentials = append(f.credentials, sourced[openapi.Credential]{name: name, value: c})
	}
	for _, flag := range f.certs {
		name, files, _ := strings.Cut(flag, "=")
		cert, key, _ := strings.Cut(files, ",")
		if !strings.Contains(name, "://") || cert == "" {
			return usagef("--client-cert wants https://host=FILE or https://host=CERT,KEY")
		}
		if given(f.clientCerts, name) {
			return usagef("--client-cert %s is given twice", name)
		}
		f.clientCerts = append(f.clientCerts, sourced[openapi.ClientCert]{name: name, value: openapi.ClientCert{Cert: cert, Key: key}})
	}
	return nil
}

func given[T any](list []sourced[T], name string) bool {
	return slices.ContainsFunc(list, func(s sourced[T]) bool { return s.name == name })
}

// credential reads what stands behind SCHEME=. Its errors do not repeat it:
// somebody may have written the secret itself.
func credential(ctx context.Context, e env, where string) (openapi.Credential, error) {
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

func variableOf(e env, name string) (string, error) {
	value, _ := e.getenv(name)
	if value == "" {
		return "", fmt.Errorf("the environment has no variable %s", name)
	}
	return value, nil
}

// apply gives a source what is meant for it.
func (f *authFlags) apply(o *openapi.Options, source string, alone bool) (err error) {
	o.AuthOrigins = f.origins
	if o.Credentials, err = pick(f.credentials, "auth", source, alone); err == nil {
		o.ClientCerts, err = pick(f.clientCerts, "client-cert", source, alone)
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
			return nil, usagef("--%s %s: there are several descriptions; say of which it is, as --%s %s/%s=...", flag, s.name, flag, source, s.name)
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
func (f *authFlags) named(used map[string]bool) {
	for _, c := range f.credentials {
		used["--auth "+c.name] = used["--auth "+c.name] || c.used
	}
	for _, c := range f.clientCerts {
		used["--client-cert "+c.name] = used["--client-cert "+c.name] || c.used
	}
}

// callerHeaders names the headers that sources may see of a client's request.
func (f *authFlags) callerHeaders() []string {
	var names []string
	for _, c := range f.credentials {
		if c.value.Caller != "" {
			names = append(names, c.value.Caller)
		}
	}
	return names
}
