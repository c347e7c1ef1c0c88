package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
)

// MaxSize bounds a document in bytes. The largest public one has 47 MB.
const MaxSize = 256 << 20

// Options configure how a document is read.
type Options struct {
	Client   *http.Client  // reads remote files
	Overlays []string      // files or URLs of overlays, which are applied in this order
	RefRoot  string        // folder that contains all files of a document on disk; empty: the document's own folder
	RefHosts []string      // hosts, with a port unless it is the default, from which other files of the document may be read
	Timeout  time.Duration // of reading one remote file that a reference names
}

// Open reads a document from the path of a file or an http(s) URL and
// applies its overlays, whose diagnostics it returns. Other files are read when
// a reference first leads to them if they are on disk, and now if they are
// remote. What was read is recorded in read, which may be nil.
func Open(ctx context.Context, spec string, o Options, read *Inputs) (*Document, []tenon.Diagnostic, error) {
	overlays, err := readOverlays(ctx, o, read)
	if err != nil {
		return nil, nil, err
	}
	if at := parseRemote(spec); at != nil {
		raw, final, _, err := egress.Fetch(ctx, o.Client, spec, MaxSize)
		read.AddAddress(spec, raw)
		if err != nil {
			return nil, nil, badSource("read "+RedactURL(at), err)
		}
		return newDocument(RedactURL(at), raw, address{url: final}, webLibrary(o, final, read), overlays) //nolint:contextcheck // a reference may first be followed long after loading
	}
	raw, err := ReadFile(spec)
	read.AddFile(spec, raw, err)
	if err != nil {
		return nil, nil, badSource("read "+spec, err)
	}
	l, at, err := diskLibrary(o, spec, read) //nolint:contextcheck // as above
	if err != nil {
		return nil, nil, err
	}
	return newDocument(spec, raw, at, l, overlays)
}

// OpenBytes is Open for a document from bytes, which must not be
// changed afterwards. If its name is a URL, that is the document's. References
// to other files are not resolved.
func OpenBytes(ctx context.Context, name string, raw []byte, o Options) (*Document, []tenon.Diagnostic, error) {
	overlays, err := readOverlays(ctx, o, nil)
	if err != nil {
		return nil, nil, err
	}
	var at address
	if u := parseRemote(name); u != nil {
		name, at = RedactURL(u), address{url: u}
	}
	return newDocument(name, raw, at, &library{}, overlays)
}

func newDocument(name string, raw []byte, at address, l *library, overlays []overlay) (*Document, []tenon.Diagnostic, error) {
	main, changed, err := applyOverlays(name, raw, overlays)
	if err != nil {
		return nil, nil, err
	}
	doc, err := documentOf(main, at, l)
	if err != nil {
		return nil, nil, err
	}
	if l.usesWeb() {
		l.fetchAll(doc.Root.File)
	}
	return doc, changed, nil
}

// parseRemote returns spec as a URL, or nil if it is the path of a file.
func parseRemote(spec string) *url.URL {
	if !strings.HasPrefix(spec, "https://") && !strings.HasPrefix(spec, "http://") {
		return nil
	}
	u, err := url.Parse(spec)
	if err != nil {
		return nil
	}
	return u
}

// RedactURL formats a URL for reports, without query and user info, which may
// contain credentials.
func RedactURL(u *url.URL) string {
	v := *u
	v.User, v.RawQuery, v.Fragment = nil, "", ""
	return v.String()
}

// ReadFile reads a file of at most MaxSize bytes.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, WithoutPath(err)
	}
	defer f.Close()
	return ReadAll(f)
}

// ReadAll reads a file of at most MaxSize bytes.
func ReadAll(f *os.File) ([]byte, error) {
	var size int64
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	if size > MaxSize {
		return nil, fmt.Errorf("larger than %d MiB", MaxSize>>20)
	}
	b := make([]byte, 0, size+512)
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, WithoutPath(err)
		case len(b) > MaxSize:
			return nil, fmt.Errorf("larger than %d MiB", MaxSize>>20)
		case len(b) == cap(b):
			b = append(b, 0)[:len(b)]
		}
	}
}

// WithoutPath removes the path from an error that is printed after the path.
func WithoutPath(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

func badSource(act string, err error) error {
	return &tenon.Error{Code: tenon.CodeBadSource, Message: act, Err: err}
}

// SameOrigin reports whether a credential for a may be sent to b.
func SameOrigin(a, b *url.URL) bool {
	return a != nil && b != nil && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}
