package app

import (
	"errors"
	"strings"
)

// Credentials that `tenon install` stored and that the host of a bundle hands
// over: what stands behind a name, and what may be missing.

// keyring returns an entry of the system's keyring.
func (e Env) keyring(name string) (string, error) {
	if e.Keyring == nil {
		return "", errors.New("there is no keyring")
	}
	value, err := e.Keyring(name)
	if err == nil && value == "" {
		err = errors.New("the entry is empty")
	}
	return value, err
}

// unfilled begins what hosts of bundles leave of an answer that their user did not
// give (github.com/modelcontextprotocol/mcpb, src/shared/config.ts, version 2.1.2).
const unfilled = "${user_config."

// optional takes "optional:" away from where a credential is, and reports whether
// it is absent: then the operator has none. Only a variable of the environment can
// be absent.
func optional(e Env, where string) (plain string, absent bool) {
	plain, found := strings.CutPrefix(where, "optional:")
	name, variable := strings.CutPrefix(strings.TrimPrefix(plain, "oauth2:"), "env:")
	if !found || !variable {
		return where, false
	}
	value, _ := e.Getenv(name)
	return plain, strings.TrimSpace(value) == "" || strings.HasPrefix(value, unfilled)
}

// serverParams is the environment in which schema files look for their server
// parameters. Those that are configured hide variables of the same name.
func serverParams(given []string, e Env) (func(string) (string, bool), error) {
	if len(given) == 0 {
		return e.Getenv, nil
	}
	values := map[string]string{}
	for _, pair := range given {
		name, where, ok := strings.Cut(pair, "=")
		where, absent := optional(e, where)
		kind, rest, _ := strings.Cut(where, ":")
		if !ok {
			return nil, invalid("server-param", " wants NAME=env:VAR, NAME=file:PATH or NAME=keyring:ENTRY")
		}
		if name == "" || rest == "" || kind != "env" && kind != "file" && kind != "keyring" {
			return nil, invalid("server-param", " %s wants env:VAR, file:PATH or keyring:NAME behind the name; the value itself does not belong there", name)
		}
		if _, twice := values[name]; twice {
			return nil, invalid("server-param", " %s is given twice", name)
		}
		values[name] = name
		var err error
		switch {
		case absent:
			values[name] = ""
		case e.DryRun:
		case kind == "keyring":
			values[name], err = e.keyring(rest)
		default:
			var text []byte
			text, err = secretAt(e, where)
			values[name] = string(text)
		}
		if err != nil {
			return nil, invalid("server-param", " %s: %v", name, err)
		}
	}
	return func(name string) (string, bool) {
		if value, ok := values[name]; ok {
			return value, value != ""
		}
		return e.Getenv(name)
	}, nil
}
