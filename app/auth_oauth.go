package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi"
)

const maxClientFile = 64 << 10 // bytes

// oauthClient reads the client of an authorization server, from env:NAME,
// file:PATH or command:CMD.
func oauthClient(ctx context.Context, e Env, where string) (openapi.Credential, error) {
	kind, rest, _ := strings.Cut(where, ":")
	var text string
	var err error
	switch {
	case rest == "":
		err = errors.New("behind oauth2: it wants env:NAME, file:PATH or command:CMD")
	case kind == "env":
		text, err = variableOf(e, rest)
	case kind == "file":
		text, err = clientFile(rest)
	case kind == "command":
		text, err = newCommand(e, rest).value(ctx)
	default:
		err = errors.New("behind oauth2: it wants env:NAME, file:PATH or command:CMD; the secret itself does not belong there")
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
