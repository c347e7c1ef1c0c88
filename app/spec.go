package app

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

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
	var known []string
	for _, k := range kinds() {
		known = append(known, k.extensions...)
	}
	for ext := filepath.Ext(base); slices.Contains(known, ext); ext = filepath.Ext(base) {
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
	return text + "; " + formsOfSpec()
}
