package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// kinds is what the argument for a description may be.
const kinds = "a description is an OpenAPI document (a file or a URL), a FlowMCP schema file (.mjs) or a folder of them, or the folder of a function app"

// SplitSpec returns the name and place of a SPEC argument: NAME=PLACE, or a
// place whose file or host names it.
func SplitSpec(spec string) (name, where string) {
	if n, w, ok := strings.Cut(spec, "="); ok && n != "" && !strings.ContainsAny(n, "/:.") {
		return n, w
	}
	base := filepath.Base(spec)
	if u, err := url.Parse(spec); err == nil && u.Host != "" {
		if base = path.Base(u.Path); base == "/" || base == "." {
			base = u.Hostname()
		}
	}
	for ext := filepath.Ext(base); ext == ".json" || ext == ".yaml" || ext == ".yml" || ext == ".mjs"; ext = filepath.Ext(base) {
		base = strings.TrimSuffix(base, ext)
	}
	return tenon.ToolName(base), spec
}

// ShownSpec is a SPEC as it may be printed and logged: of a URL neither the user
// nor the query, which may hold secrets.
func ShownSpec(spec string) string {
	if !strings.Contains(spec, "://") {
		return spec
	}
	u, err := url.Parse(spec)
	if err != nil {
		return "the URL"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// BadSource makes sure that a description that cannot be read ends with exit 3.
// A setting that does not fit it is a mistake in the config.
func BadSource(spec string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		if text := noDescription(spec); text != "" {
			return &tenon.Error{Code: tenon.CodeBadSource, Message: text}
		}
	}
	if known, ok := errors.AsType[*tenon.Error](err); ok && known.Code == tenon.CodeBadSource && looksLikeConfig(spec) {
		return &tenon.Error{Code: known.Code, Message: known.Message + "; a config is read with --config " + spec + ", by serve and check", Err: known.Err}
	}
	if code := tenon.CodeOf(err); code == tenon.CodeBadSource || code == tenon.CodeUsage || errors.Is(err, context.Canceled) {
		return err
	}
	return &tenon.Error{Code: tenon.CodeBadSource, Message: ShownSpec(spec) + " cannot be read", Err: err}
}

// noDescription is missing for a description: without a name that looks like
// it, what else it may be.
func noDescription(spec string) string {
	if strings.HasPrefix(spec, "https://") || strings.HasPrefix(spec, "http://") {
		return "" // another file that it needs
	}
	if strings.Contains(spec, "://") {
		return ShownSpec(spec) + " is neither a file nor a URL that is read: that begins with https://"
	}
	text := suggest.MissingFile(spec)
	if text == "" || strings.HasSuffix(text, "?") {
		return text
	}
	if host, _, ok := strings.Cut(spec, "/"); ok && strings.Contains(strings.Trim(host, "."), ".") {
		return text + "; a URL begins with https://, as https://" + spec
	}
	return text + "; " + kinds
}

// ParseHeaders reads 'Name: value' flags. ${VAR} in a value is taken from the
// environment, so that no secret stands on the command line.
func ParseHeaders(flags []string, getenv func(string) (string, bool)) (http.Header, error) {
	header := http.Header{}
	for _, flag := range flags {
		name, value, ok := strings.Cut(flag, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, invalid("header", " wants 'Name: value'")
		}
		var missing string
		value = variable.ReplaceAllStringFunc(value, func(ref string) string {
			v, ok := getenv(ref[2 : len(ref)-1])
			if !ok {
				missing = ref
			}
			return v
		})
		if missing != "" {
			return nil, invalid("header", " %s: the environment has no variable %s", strings.TrimSpace(name), missing)
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return header, nil
}

// Described counts the tools that descriptions became, without those of the gateway
// itself.
func Described(c *gateway.Catalog) int {
	n := 0
	for _, t := range c.Tools() {
		if t.Source() != "" {
			n++
		}
	}
	return n
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// isSchemaFile reports whether a SPEC is a FlowMCP schema file or a folder of
// them.
func isSchemaFile(spec string) bool {
	if filepath.Ext(spec) == ".mjs" {
		return true
	}
	info, err := os.Stat(spec)
	return err == nil && info.IsDir()
}
