package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Limits of a document that consists of several files.
const (
	maxFiles   = 10_000
	maxFetched = 500 // of these, files read from the web
)

// library opens the other files of a document, each once, when a reference
// first leads there. The zero value opens nothing, for a document that was
// passed as bytes.
//
// Files on disk must be below one folder, whatever symbolic links are in it. A
// document from the web can refer to files of its own origin below its own
// folder; other hosts must be allowed by the operator.
type library struct {
	folder string                           // of files on disk; empty: none are read
	below  *url.URL                         // folder of a document from the web; nil: the document is on disk
	fetch  func(u *url.URL) ([]byte, error) // nil: nothing is read from the web
	inputs *Inputs                          // records what was read; may be nil
	hosts  map[string]bool                  // allowed hosts, lower case, with a port if one is given

	mu      sync.Mutex
	known   map[string]*openedFile // by address
	size    int
	fetched int
}

// openedFile is an open file, or why it could not be opened.
type openedFile struct {
	once sync.Once
	file *File
	err  error
}

// webLibrary returns the library of a document that was read from a URL.
func webLibrary(o Options, at *url.URL, read *Inputs) *library {
	below := *at
	below.Path = path.Dir(at.Path)
	l := &library{below: &below, inputs: read}
	l.allowWeb(o)
	return l
}

// diskLibrary returns the library of a document in a file, and the file's
// address in it.
func diskLibrary(o Options, spec string, read *Inputs) (*library, address, error) {
	folder := o.RefRoot
	if folder == "" {
		folder = filepath.Dir(spec)
	}
	inside, err := relativeTo(folder, spec)
	if err != nil {
		return nil, address{}, &tenon.Error{Code: tenon.CodeUsage, Message: fmt.Sprintf("%s is not below %s (--ref-root)", spec, folder)}
	}
	l := &library{folder: folder, inputs: read}
	l.allowWeb(o)
	return l, address{path: inside}, nil
}

// relativeTo returns the slash-separated path from folder to a file below it.
func relativeTo(folder, file string) (string, error) {
	from, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	inside, err := filepath.Rel(from, to)
	if err == nil && !filepath.IsLocal(inside) {
		err = errors.New("outside")
	}
	return filepath.ToSlash(inside), err
}

// allowWeb allows the library to read from the operator's hosts and from the
// origin of the document. The timeout of each file is that of a request and
// does not depend on the caller.
func (l *library) allowWeb(o Options) {
	l.hosts = make(map[string]bool, len(o.RefHosts))
	for _, h := range o.RefHosts {
		l.hosts[strings.ToLower(h)] = true
	}
	l.fetch = func(u *url.URL) ([]byte, error) {
		ctx, cancel := context.WithTimeout(context.Background(), o.Timeout)
		defer cancel()
		raw, final, _, err := egress.Fetch(ctx, o.Client, u.String(), MaxSize)
		if err == nil && !l.allows(final) {
			return nil, fmt.Errorf("the response came from %s, which is not allowed; allow it with --allow-ref %s", final.Host, final.Host)
		}
		return raw, err
	}
}

// address is the location of a file, either on disk or in the web.
type address struct {
	path string   // slash-separated, relative to the library's folder
	url  *url.URL // without fragment
}

func (a address) String() string {
	if a.url != nil {
		return a.url.String()
	}
	return a.path
}

// BaseName returns the last path element without its extension.
func (a address) BaseName() string {
	p := a.path
	if a.url != nil {
		p = a.url.Path
	}
	name, _, _ := strings.Cut(path.Base(p), ".")
	return name
}

// addressFrom resolves a reference in the file at from.
func (l *library) addressFrom(from address, ref string) (address, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return address{}, errors.New("the reference is not a URI")
	}
	u.Fragment, u.RawFragment = "", ""
	switch {
	case u.Scheme == "http" || u.Scheme == "https":
		return address{url: u}, nil
	case u.Scheme != "" || u.Opaque != "":
		return address{}, fmt.Errorf("the scheme %q is not supported", u.Scheme)
	case from.url != nil:
		return address{url: from.url.ResolveReference(u)}, nil
	case u.Host != "" || path.IsAbs(u.Path) || filepath.IsAbs(filepath.FromSlash(u.Path)):
		return address{}, errors.New("the path must be relative to the file that refers to it")
	}
	p := path.Join(path.Dir(from.path), u.Path)
	if p == ".." || strings.HasPrefix(p, "../") {
		if l.folder == "" {
			return address{}, errNoOtherFiles
		}
		return address{}, fmt.Errorf("the file is outside %s; set the folder for references with --ref-root", l.folder)
	}
	return address{path: p}, nil
}

// open returns the file at an address.
func (l *library) open(at address) (*File, error) {
	l.mu.Lock()
	o := l.known[at.String()]
	if o == nil {
		if len(l.known) >= maxFiles {
			l.mu.Unlock()
			return nil, fmt.Errorf("the document has more than %d files", maxFiles)
		}
		o = &openedFile{}
		l.remember(at, o)
	}
	l.mu.Unlock()
	o.once.Do(func() {
		o.err = errors.New("the file could not be read") // remains if reading panics
		o.file, o.err = l.read(at)
	})
	return o.file, o.err
}

func (l *library) remember(at address, o *openedFile) {
	if l.known == nil {
		l.known = make(map[string]*openedFile)
	}
	l.known[at.String()] = o
}

// add adds a file that is already open.
func (l *library) add(f *File) {
	o := &openedFile{file: f}
	o.once.Do(func() {})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remember(f.Address, o)
}

// files lists the open files.
func (l *library) files() []*File {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []*File
	for _, o := range l.known {
		if o.file != nil {
			list = append(list, o.file)
		}
	}
	return list
}

func (l *library) read(at address) (*File, error) {
	raw, name, err := l.bytes(at)
	if err != nil {
		return nil, err
	}
	if err := l.count(len(raw)); err != nil {
		return nil, err
	}
	f, err := parseFile(name, raw)
	if err != nil {
		return nil, err
	}
	f.Address = at
	return f, nil
}

var errNoOtherFiles = errors.New("the document was passed as bytes; its other files are not available")

func (l *library) bytes(at address) (raw []byte, name string, err error) {
	if at.url == nil {
		if l.folder == "" {
			return nil, "", errNoOtherFiles
		}
		name = filepath.Join(l.folder, filepath.FromSlash(at.path))
		f, err := os.OpenInRoot(l.folder, filepath.FromSlash(at.path))
		if err != nil {
			l.inputs.AddFile(name, nil, err)
			return nil, "", fmt.Errorf("read %s: %w", name, WithoutPath(err))
		}
		defer f.Close()
		raw, err = ReadAll(f)
		l.inputs.AddFile(name, raw, err)
		if err != nil {
			return nil, "", fmt.Errorf("read %s: %w", name, err)
		}
		return raw, name, nil
	}
	if err := l.mayFetch(at.url); err != nil {
		return nil, "", err
	}
	raw, err = l.fetch(at.url)
	l.inputs.AddAddress(at.url.String(), raw)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", RedactURL(at.url), err)
	}
	return raw, RedactURL(at.url), nil
}

// mayFetch rejects hosts that the operator has not allowed: a description must
// not decide which hosts this program calls.
func (l *library) mayFetch(u *url.URL) error {
	if !l.allows(u) {
		return fmt.Errorf("references to %s are not allowed; allow them with --allow-ref %s", u.Host, u.Host)
	}
	if l.fetch == nil {
		return errors.New("references to the web are not available for this document")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fetched++; l.fetched > maxFetched {
		return fmt.Errorf("the document refers to more than %d files in the web", maxFetched)
	}
	return nil
}

func (l *library) allows(u *url.URL) bool {
	own := l.below != nil && SameOrigin(l.below, u) && strings.HasPrefix(path.Clean(u.Path), strings.TrimSuffix(l.below.Path, "/")+"/")
	return own || l.hosts[strings.ToLower(u.Host)]
}

// count bounds the size of all files together.
func (l *library) count(size int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size += size; l.size > MaxSize {
		return fmt.Errorf("the files of the document exceed %d MiB together", MaxSize>>20)
	}
	return nil
}

// usesWeb reports whether any file may have to be fetched.
func (l *library) usesWeb() bool { return l.below != nil || len(l.hosts) > 0 }

// fetchAll opens all files that the document refers to, directly or not, so
// that the web is read while the document is loaded and not during a call.
// Errors are reported where the files are used.
func (l *library) fetchAll(root *File) {
	seen := map[*File]bool{root: true}
	for queue := []*File{root}; len(queue) > 0; queue = queue[1:] {
		f := queue[0]
		for ref := range foreignReferences(f.Doc) {
			at, err := l.addressFrom(f.Address, ref)
			if err != nil {
				continue
			}
			if g, err := l.open(at); err == nil && !seen[g] {
				seen[g] = true
				queue = append(queue, g)
			}
		}
	}
}

// refersElsewhere reports whether a file has foreignReferences. Nearly none
// has, and a scan of the bytes after each "$ref" shows it.
func refersElsewhere(doc *rawjson.Doc) bool {
	for rest := doc.Source(); ; {
		_, after, found := bytes.Cut(rest, []byte(`$ref"`))
		if !found {
			return false
		}
		rest = after
		if text, ok := bytes.CutPrefix(bytes.TrimLeft(after, " \t\r\n:"), []byte(`"`)); ok && !bytes.HasPrefix(text, []byte("#")) {
			break
		}
	}
	for range foreignReferences(doc) {
		return true
	}
	return false
}

// foreignReferences iterates over the references of a file to other files. It
// skips members whose values are data.
func foreignReferences(doc *rawjson.Doc) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var visit func(n rawjson.Node) bool
		visit = func(n rawjson.Node) bool {
			for c := doc.First(n); c != rawjson.None; c = doc.Next(c) {
				key := string(doc.RawKey(c))
				if key == "$ref" && doc.Kind(c) == rawjson.String {
					if ref := fileOf(doc, c); ref != "" && !yield(ref) {
						return false
					}
				} else if !isData(key) && !visit(c) {
					return false
				}
			}
			return true
		}
		visit(doc.Root())
	}
}

// fileOf returns the part of a reference before its fragment, which is nearly
// always empty.
func fileOf(doc *rawjson.Doc, ref rawjson.Node) string {
	if doc.Raw(ref)[1] == '#' {
		return ""
	}
	name, _, _ := strings.Cut(doc.Str(ref), "#")
	return name
}

// isData reports whether a member contains data, in which nothing is a
// reference.
func isData(key string) bool {
	switch key {
	case "example", "examples", "default", "enum", "const":
		return true
	}
	return strings.HasPrefix(key, "x-")
}
