package openapi

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

// Bounds of a document that consists of several files.
const (
	maxFiles   = 10_000
	maxFetched = 500 // of these, files read from the web
)

// library opens the other files of a document, each once and when a reference
// first leads there. The zero value opens nothing: a document whose bytes were
// handed over has no other files.
//
// A file on disk is found below one folder and nowhere else, whatever links
// lie in it. A document from the web finds files of its own origin below its
// own folder; any other host is asked only where the operator named it.
type library struct {
	folder string                           // of files on disk; empty: there are none
	below  *url.URL                         // folder of a document from the web; nil: the document is on disk
	fetch  func(u *url.URL) ([]byte, error) // nil: nothing is read from the web
	seen   *seen                            // notes what was read; may be nil
	hosts  map[string]bool                  // that may be asked, lower case with port where one is given

	mu      sync.Mutex
	known   map[string]*opening // by address
	size    int
	fetched int
}

// opening is a file that is open, or why it is not.
type opening struct {
	once sync.Once
	file *file
	err  error
}

// webLibrary is the library of a document that was read at a URL.
func webLibrary(o Options, at *url.URL, seen *seen) *library {
	below := *at
	below.Path = path.Dir(at.Path)
	l := &library{below: &below, seen: seen}
	l.reachWeb(o)
	return l
}

// diskLibrary is the library of a document in a file, and the file's place in
// it.
func diskLibrary(o Options, spec string, seen *seen) (*library, address, error) {
	folder := o.RefRoot
	if folder == "" {
		folder = filepath.Dir(spec)
	}
	inside, err := relativeTo(folder, spec)
	if err != nil {
		return nil, address{}, &tenon.Error{Code: tenon.CodeUsage, Message: fmt.Sprintf("%s does not lie below %s (--ref-root)", spec, folder)}
	}
	l := &library{folder: folder, seen: seen}
	l.reachWeb(o)
	return l, address{path: inside}, nil
}

// relativeTo is the slashed path from folder down to a file.
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

// reachWeb lets the library read from the hosts that the operator named, and
// from where the document itself came. It waits for each file as long as a call
// may take, whatever waits for the file.
func (l *library) reachWeb(o Options) {
	l.hosts = make(map[string]bool, len(o.RefHosts))
	for _, h := range o.RefHosts {
		l.hosts[strings.ToLower(h)] = true
	}
	l.fetch = func(u *url.URL) ([]byte, error) {
		ctx, cancel := context.WithTimeout(context.Background(), o.Timeout)
		defer cancel()
		raw, final, _, err := egress.Fetch(ctx, o.Client, u.String(), maxDocument)
		if err == nil && !l.allows(final) {
			return nil, fmt.Errorf("the answer came from %s, which is not allowed; --allow-ref %s allows it", final.Host, final.Host)
		}
		return raw, err
	}
}

// address is the place of a file, on disk or in the web: one of both.
type address struct {
	path string   // slashes, relative to the library's folder
	url  *url.URL // without fragment
}

func (a address) String() string {
	if a.url != nil {
		return a.url.String()
	}
	return a.path
}

// base is the last part of the address without what follows a dot.
func (a address) base() string {
	p := a.path
	if a.url != nil {
		p = a.url.Path
	}
	name, _, _ := strings.Cut(path.Base(p), ".")
	return name
}

// addressFrom is where a reference leads that was seen in the file at from.
func (l *library) addressFrom(from address, ref string) (address, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return address{}, errors.New("the reference is no address")
	}
	u.Fragment, u.RawFragment = "", ""
	switch {
	case u.Scheme == "http" || u.Scheme == "https":
		return address{url: u}, nil
	case u.Scheme != "" || u.Opaque != "":
		return address{}, fmt.Errorf("addresses of the kind %q are not read", u.Scheme)
	case from.url != nil:
		return address{url: from.url.ResolveReference(u)}, nil
	case u.Host != "" || path.IsAbs(u.Path) || filepath.IsAbs(filepath.FromSlash(u.Path)):
		return address{}, errors.New("a file is named relative to the file that refers to it")
	}
	p := path.Join(path.Dir(from.path), u.Path)
	if p == ".." || strings.HasPrefix(p, "../") {
		if l.folder == "" {
			return address{}, errAlone
		}
		return address{}, fmt.Errorf("the file lies outside %s; --ref-root names the folder below which files are read", l.folder)
	}
	return address{path: p}, nil
}

// open returns the file at an address.
func (l *library) open(at address) (*file, error) {
	l.mu.Lock()
	o := l.known[at.String()]
	if o == nil {
		if len(l.known) >= maxFiles {
			l.mu.Unlock()
			return nil, fmt.Errorf("the document has more than %d files", maxFiles)
		}
		o = &opening{}
		l.remember(at, o)
	}
	l.mu.Unlock()
	o.once.Do(func() {
		o.err = errors.New("the file could not be read") // stays where reading it panics
		o.file, o.err = l.read(at)
	})
	return o.file, o.err
}

func (l *library) remember(at address, o *opening) {
	if l.known == nil {
		l.known = make(map[string]*opening)
	}
	l.known[at.String()] = o
}

// holds puts a file that is open already into the library.
func (l *library) holds(f *file) {
	o := &opening{file: f}
	o.once.Do(func() {})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remember(f.at, o)
}

// files lists what is open.
func (l *library) files() []*file {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []*file
	for _, o := range l.known {
		if o.file != nil {
			list = append(list, o.file)
		}
	}
	return list
}

func (l *library) read(at address) (*file, error) {
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
	f.at = at
	return f, nil
}

var errAlone = errors.New("the document was given without its other files")

func (l *library) bytes(at address) (raw []byte, name string, err error) {
	if at.url == nil {
		if l.folder == "" {
			return nil, "", errAlone
		}
		name = filepath.Join(l.folder, filepath.FromSlash(at.path))
		f, err := os.OpenInRoot(l.folder, filepath.FromSlash(at.path))
		if err != nil {
			l.seen.file(name, nil, err)
			return nil, "", fmt.Errorf("read %s: %w", name, plain(err))
		}
		defer f.Close()
		raw, err = readAll(f)
		l.seen.file(name, raw, err)
		if err != nil {
			return nil, "", fmt.Errorf("read %s: %w", name, err)
		}
		return raw, name, nil
	}
	if err := l.mayFetch(at.url); err != nil {
		return nil, "", err
	}
	raw, err = l.fetch(at.url)
	l.seen.address(at.url.String(), raw)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", public(at.url), err)
	}
	return raw, public(at.url), nil
}

// mayFetch refuses what the operator has not asked for: a description must not
// choose which hosts this program calls.
func (l *library) mayFetch(u *url.URL) error {
	if !l.allows(u) {
		return fmt.Errorf("other documents are not read from %s; --allow-ref %s allows it", u.Host, u.Host)
	}
	if l.fetch == nil {
		return errors.New("the document was given without a way to the web")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fetched++; l.fetched > maxFetched {
		return fmt.Errorf("the document leads to more than %d files in the web", maxFetched)
	}
	return nil
}

func (l *library) allows(u *url.URL) bool {
	own := l.below != nil && sameOrigin(l.below, u) && strings.HasPrefix(path.Clean(u.Path), strings.TrimSuffix(l.below.Path, "/")+"/")
	return own || l.hosts[strings.ToLower(u.Host)]
}

// count bounds all files together as if they were one document.
func (l *library) count(size int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size += size; l.size > maxDocument {
		return fmt.Errorf("the files of the document are larger than %d MiB together", maxDocument>>20)
	}
	return nil
}

// web tells whether any file may have to be fetched.
func (l *library) web() bool { return l.below != nil || len(l.hosts) > 0 }

// fetchAll opens everything that the open files refer to, and so on, so that
// the web is asked while the document is loaded and not during a call. What
// cannot be read is told where it is used.
func (l *library) fetchAll(root *file) {
	seen := map[*file]bool{root: true}
	for queue := []*file{root}; len(queue) > 0; queue = queue[1:] {
		f := queue[0]
		for ref := range foreignReferences(f.doc) {
			at, err := l.addressFrom(f.at, ref)
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

// refersElsewhere reports whether a file has foreignReferences. Nearly none has,
// which a look at the bytes behind each "$ref" tells.
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

// foreignReferences goes over the references of a file that name another one.
// What is no schema but data is not looked into.
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

// fileOf is what a reference says before its fragment; nearly all say nothing.
func fileOf(doc *rawjson.Doc, ref rawjson.Node) string {
	if doc.Raw(ref)[1] == '#' {
		return ""
	}
	name, _, _ := strings.Cut(doc.Str(ref), "#")
	return name
}

// isData names the members that hold values, in which nothing is a reference.
func isData(key string) bool {
	switch key {
	case "example", "examples", "default", "enum", "const":
		return true
	}
	return strings.HasPrefix(key, "x-")
}
