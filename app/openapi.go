package app

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi"
)

func documentExtensions() []string { return []string{".json", ".yaml", ".yml"} }

// openDocument gives a document, alone of all kinds, credentials.
func openDocument(s *loaded, o openapi.Options, _ Env) (tenon.Source, error) {
	if err := s.auth.apply(&o, s.Name, s.alone); err != nil {
		return nil, err
	}
	return openapi.New(s.Spec, o), nil
}

// Bounds of a folder of documents.
const (
	maxDocuments = 1000
	sniffed      = 64 << 10 // bytes in which a document says what it is
)

// documentsIn are the OpenAPI documents of a folder; nil: it is no folder. Files
// that are no OpenAPI document are left alone.
func documentsIn(dir string) ([]string, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil //nolint:nilerr // whoever reads it tells
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, BadSource(dir, err)
	}
	var documents []string
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if e.Type().IsRegular() && slices.Contains(documentExtensions(), filepath.Ext(file)) && isDocument(file) {
			documents = append(documents, file)
		}
	}
	switch {
	case documents == nil:
		return nil, &tenon.Error{Code: tenon.CodeBadSource, Message: "the folder " + dir + " has no descriptions; " + formsOfSpec() + ", or a folder of OpenAPI documents"}
	case len(documents) > maxDocuments:
		return nil, invalid("", "the folder %s has more than %d OpenAPI documents; name those that are to be served", dir, maxDocuments)
	}
	return documents, nil
}

var documentKey = regexp.MustCompile(`(?m)(^|[{,]\s*)\s*["']?(openapi|swagger)["']?\s*:\s*["']?[23]\.`)

// isDocument reports whether a file says of itself that it is an OpenAPI
// document.
func isDocument(file string) bool {
	f, err := os.Open(file) //nolint:gosec // the operator names the folder
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, sniffed))
	return err == nil && documentKey.Match(text)
}

// maxNameMCP is how long a name of a tool can be by the protocol.
const maxNameMCP = 128

// documentOptions makes the options of OpenAPI documents, from which those of the
// other kinds take what they share with them.
func documentOptions(o *SourceOptions, c *Config, e Env) (*http.Client, openapi.Options, error) {
	policy, err := parsed(o.Policy.All, tenon.ParsePolicy)
	if err != nil {
		return nil, openapi.Options{}, err
	}
	envelope, err := parsed(o.Envelope.All, tenon.ParseEnvelope)
	if err != nil {
		return nil, openapi.Options{}, err
	}
	header, err := ParseHeaders(o.Header, e.recordedEnv())
	if err != nil {
		return nil, openapi.Options{}, err
	}
	if u, err := url.Parse(o.BaseURL); o.BaseURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(o.BaseURL, "?#")) {
		return nil, openapi.Options{}, invalid("base-url", " must be an http or https URL without query, such as https://api.example.com/v1")
	}
	variables, err := serverVariables(o.ServerVariable)
	if err != nil {
		return nil, openapi.Options{}, err
	}
	if err := o.check(); err != nil {
		return nil, openapi.Options{}, err
	}
	client, err := o.client(e)
	if err != nil {
		return nil, openapi.Options{}, err
	}
	changes, err := overrides(o)
	if err != nil {
		return nil, openapi.Options{}, err
	}
	var tell func(string)
	if e.Recorder != nil {
		tell = e.Recorder.Secret
	}
	longest := 0
	if o.Names == string(tenon.NamesMCP) {
		longest = maxNameMCP
	}
	return client, openapi.Options{
		MaxName: longest, Client: client, BaseURL: o.BaseURL, ServerVariables: variables, Header: header, Policy: policy, Envelope: envelope,
		FollowPages: o.FollowPages, MaxInputSchema: o.MaxInputSchema, MaxOutputSchema: o.MaxOutputSchema,
		Timeout: cmp.Or(o.AttemptTimeout, o.Timeout), Upstream: upstream(o), IdempotencyHeader: o.IdempotencyHeader, Store: e.keys, PollInterval: c.PollInterval,
		Selection: openapi.Selection{Include: o.Include, Exclude: o.Exclude, ReadOnly: o.ReadOnly},
		Overrides: changes, TrustMarks: o.TrustMarks, UploadRoot: o.UploadRoot, Overlays: o.Overlay, RefRoot: o.RefRoot, RefHosts: o.AllowRef, Logger: e.Logger, Shared: e.shared,
		ObserveSecret: tell, Replayed: e.Player != nil,
	}, nil
}

// serverVariables are the values of variables in the URLs of servers, by name.
func serverVariables(pairs []string) (map[string]string, error) {
	values := map[string]string{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, invalid("server-variable", " wants NAME=VALUE, not %q", pair)
		}
		values[name] = value
	}
	return values, nil
}

// overrides are the changes of operations that options ask for.
func overrides(o *SourceOptions) ([]openapi.OperationOverride, error) {
	yes, no := true, false
	var all []openapi.OperationOverride
	for _, rule := range o.MarkSafe {
		all = append(all, openapi.OperationOverride{Operations: rule, Safe: &yes})
	}
	for _, rule := range o.MarkUnsafe {
		all = append(all, openapi.OperationOverride{Operations: rule, Safe: &no})
	}
	for _, one := range []struct {
		flag  string
		given []string
		set   func(c *openapi.OperationOverride, value string)
	}{
		{"rename", o.Rename, func(c *openapi.OperationOverride, v string) { c.Name = v }},
		{"set-description", o.SetDescription, func(c *openapi.OperationOverride, v string) { c.Description = v }},
	} {
		for _, given := range one.given {
			rule, value, found := strings.Cut(given, "=")
			if !found || rule == "" || value == "" {
				return nil, invalid(one.flag, " %q: write SELECTOR=VALUE", given)
			}
			c := openapi.OperationOverride{Operations: rule}
			one.set(&c, value)
			all = append(all, c)
		}
	}
	return parameterOverrides(o, all)
}

func parameterOverrides(o *SourceOptions, all []openapi.OperationOverride) ([]openapi.OperationOverride, error) {
	for _, one := range []struct {
		flag  string
		given []string
		set   func(p *openapi.ParameterOverride, value string)
	}{
		{"param-rename", o.ParamRename, func(p *openapi.ParameterOverride, v string) { p.Rename = v }},
		{"param-description", o.ParamDescription, func(p *openapi.ParameterOverride, v string) { p.Description = v }},
		{"param-hide", o.ParamHide, func(p *openapi.ParameterOverride, _ string) { p.Hide = true }},
		{"param-const", o.ParamConst, func(p *openapi.ParameterOverride, v string) { p.Const = jsonOrText(v) }},
	} {
		for _, given := range one.given {
			place, value, found := strings.Cut(given, "=")
			if found == (one.flag == "param-hide") {
				return nil, invalid(one.flag, " %q: write %s", given, map[bool]string{true: "'[SELECTOR ]PARAMETER'", false: "'[SELECTOR ]PARAMETER=VALUE'"}[found])
			}
			rule, name := "", place
			if i := strings.LastIndexByte(place, ' '); i >= 0 {
				rule, name = strings.TrimSpace(place[:i]), place[i+1:]
			}
			p := openapi.ParameterOverride{Name: name}
			one.set(&p, value)
			all = append(all, openapi.OperationOverride{Operations: rule, Parameters: []openapi.ParameterOverride{p}})
		}
	}
	return all, nil
}

func jsonOrText(s string) json.RawMessage {
	if rawjson.Check([]byte(s)) == nil {
		return json.RawMessage(s)
	}
	return rawjson.AppendString(nil, s)
}
