package app

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
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

// Bounds of a folder of documents.
const (
	maxDocuments = 1000
	sniffed      = 64 << 10 // bytes in which a document says what it is
)

// folders puts the OpenAPI documents of each folder in its place. A folder of
// schema files and one of a function app stay what they are, and files that are
// no OpenAPI documents are left alone.
func folders(sources []Source) ([]Source, error) {
	var all []Source
	for _, p := range sources {
		documents, err := documentsIn(p.Spec)
		if err != nil {
			return nil, p.located(err)
		}
		if documents == nil {
			all = append(all, p)
		}
		for _, file := range documents {
			one := p
			one.Name, _ = SplitSpec(file)
			one.Spec = file
			all = append(all, one)
		}
	}
	return all, nil
}

// documentsIn are the OpenAPI documents of a folder; nil: it is no folder of
// them.
func documentsIn(dir string) ([]string, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || isApp(dir) || holdsSchemaFiles(dir) {
		return nil, nil //nolint:nilerr // whoever reads it tells
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, BadSource(dir, err)
	}
	var documents []string
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if e.Type().IsRegular() && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(file)) && isDocument(file) {
			documents = append(documents, file)
		}
	}
	switch {
	case documents == nil:
		return nil, &tenon.Error{Code: tenon.CodeBadSource, Message: "the folder " + dir + " has no descriptions; " + kinds + ", or a folder of OpenAPI documents"}
	case len(documents) > maxDocuments:
		return nil, invalid("", "the folder %s has more than %d OpenAPI documents; name those that are to be served", dir, maxDocuments)
	}
	return documents, nil
}

// holdsSchemaFiles reports whether a schema file stands in a folder or in one
// below it.
func holdsSchemaFiles(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(file) == ".mjs" {
			found = true
			return filepath.SkipAll
		}
		return nil // what cannot be read holds none
	})
	return found
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
