package flowmcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/sqlite"
)

// Bounds of what resources hold.
const (
	maxMarkdown = 8 << 20
	maxDownload = 256 << 20
)

// folder is where the files of a resource's origin lie; empty: the operator
// named none.
func (r *resource) folder(o *Options) string {
	in := func(base string) string {
		if base == "" {
			return ""
		}
		return filepath.Join(base, "resources")
	}
	switch r.origin {
	case "inline":
		return in(filepath.Dir(r.file.path))
	case "project":
		return in(o.ProjectDir)
	case "global":
		return in(o.GlobalDir)
	}
	return ""
}

// find returns the path of a resource's file. It lies below its origin, also
// when links are followed.
func (r *resource) find(o *Options) (string, error) {
	dirs := []string{r.folder(o)}
	if dirs[0] == "" {
		return "", fmt.Errorf("no folder is named for the origin %s", r.origin)
	}
	dirs = append(dirs, filepath.Dir(dirs[0])) // the older form names a file below the base itself
	var missing error
	for _, dir := range dirs {
		path, err := inside(dir, filepath.FromSlash(r.place))
		if err == nil {
			return path, nil
		}
		missing = errors.Join(missing, err)
	}
	return "", fmt.Errorf("there is no file %s in %s", r.place, dirs[0])
}

func inside(dir, name string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fs.ErrInvalid
	}
	return filepath.Join(dir, name), nil
}

// databases are those that a source has opened.
type databases struct {
	mu    sync.Mutex
	open  map[string]*sqlite.DB
	kept  map[string]bool // of which a copy was made
	fetch map[string]*sync.Mutex
}

func newDatabases() *databases {
	return &databases{open: map[string]*sqlite.DB{}, kept: map[string]bool{}, fetch: map[string]*sync.Mutex{}}
}

func (d *databases) get(path string, write bool) (*sqlite.DB, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := path
	if write {
		key += "\x00write"
	}
	if db := d.open[key]; db != nil {
		return db, nil
	}
	db, err := sqlite.Open(path, write)
	if err != nil {
		return nil, err
	}
	d.open[key] = db
	return db, nil
}

// keep makes a copy of a database before it is changed for the first time.
func (d *databases) keep(ctx context.Context, path string) error {
	lock := d.lock(path)
	lock.Lock()
	defer lock.Unlock()
	if d.kept[path] {
		return nil
	}
	db, err := d.get(path, false)
	if err != nil {
		return err
	}
	next := path + ".bak.new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := db.Copy(ctx, next); err != nil {
		return err
	}
	if err := os.Rename(next, path+".bak"); err != nil {
		return err
	}
	d.kept[path] = true
	return nil
}

// lock is the lock of one file's upkeep.
func (d *databases) lock(path string) *sync.Mutex {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fetch[path] == nil {
		d.fetch[path] = &sync.Mutex{}
	}
	return d.fetch[path]
}

func (d *databases) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all error
	for key, db := range d.open {
		all = errors.Join(all, db.Close())
		delete(d.open, key)
	}
	return all
}

// download returns the path of a database from the web. A stale one is used
// where no newer one can be had; stale says so.
func (d *databases) download(ctx context.Context, r *resource, o *Options) (path string, stale bool, err error) {
	if o.CacheDir == "" {
		return "", false, &tenon.Error{Code: tenon.CodeRequest, Message: "no folder is named for what is downloaded"}
	}
	sum := sha256.Sum256([]byte(r.url))
	path = filepath.Join(o.CacheDir, "resources", hex.EncodeToString(sum[:])+".db")
	lock := d.lock(path)
	lock.Lock()
	defer lock.Unlock()
	info, statErr := os.Stat(path)
	if statErr == nil && time.Since(info.ModTime()) < time.Duration(r.age)*time.Second {
		return path, false, nil
	}
	if err = fetchDatabase(ctx, r.url, path, o.Client); err != nil && statErr == nil {
		return path, true, nil
	}
	return path, false, err
}

func fetchDatabase(ctx context.Context, address, path string, client *http.Client) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return refused("the address of the database cannot be used")
	}
	res, err := egress.Do(client, req, maxDownload)
	switch {
	case err != nil:
		return failure(err)
	case res.Status != http.StatusOK:
		return &tenon.Error{Code: tenon.CodeServer, Message: fmt.Sprintf("the database could not be fetched: status %d", res.Status)}
	case !bytes.HasPrefix(res.Body, []byte("SQLite format 3\x00")):
		return &tenon.Error{Code: tenon.CodeServer, Message: "what was fetched is no SQLite database"}
	}
	if err := writeWhole(path, res.Body); err != nil {
		return &tenon.Error{Code: tenon.CodeInternal, Message: "the database cannot be kept", Err: err}
	}
	return nil
}

// writeWhole writes a file that is there as a whole or not at all.
func writeWhole(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// readText reads the text of a markdown resource.
func (r *resource) readText(o *Options) (string, error) {
	dir := r.folder(o)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", plain(err)
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(r.place))
	if err != nil {
		return "", plain(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxMarkdown+1))
	switch {
	case err != nil:
		return "", plain(err)
	case len(text) > maxMarkdown:
		return "", fmt.Errorf("the text is larger than %d bytes", maxMarkdown)
	}
	return string(text), nil
}
