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
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/sqlite"
)

// Limits of resource files.
const (
	maxMarkdown = 8 << 20
	maxDownload = 256 << 20
)

// databases are the open databases of a source.
type databases struct {
	mu       sync.Mutex
	open     map[string]*sqlite.DB
	backedUp map[string]bool // backed up
	locks    map[string]*sync.Mutex
}

func newDatabases() *databases {
	return &databases{open: map[string]*sqlite.DB{}, backedUp: map[string]bool{}, locks: map[string]*sync.Mutex{}}
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

// backUp backs up a database before the first modification.
func (d *databases) backUp(ctx context.Context, path string) error {
	lock := d.lock(path)
	lock.Lock()
	defer lock.Unlock()
	if d.backedUp[path] {
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
	d.backedUp[path] = true
	return nil
}

// lock returns the lock for downloads and backups of one file.
func (d *databases) lock(path string) *sync.Mutex {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locks[path] == nil {
		d.locks[path] = &sync.Mutex{}
	}
	return d.locks[path]
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

// download returns the path of a downloaded database. A stale one is used where
// the download fails.
func (d *databases) download(ctx context.Context, r *format.Resource, o *Options) (path string, stale bool, err error) {
	if o.CacheDir == "" {
		return "", false, &tenon.Error{Code: tenon.CodeRequest, Message: "no cache folder is set for downloads"}
	}
	sum := sha256.Sum256([]byte(r.URL))
	path = filepath.Join(o.CacheDir, "resources", hex.EncodeToString(sum[:])+".db")
	lock := d.lock(path)
	lock.Lock()
	defer lock.Unlock()
	info, statErr := os.Stat(path)
	if statErr == nil && time.Since(info.ModTime()) < time.Duration(r.MaxAge)*time.Second {
		return path, false, nil
	}
	if err = fetchDatabase(ctx, r.URL, path, o.Client); err != nil && statErr == nil {
		return path, true, nil
	}
	return path, false, err
}

func fetchDatabase(ctx context.Context, address, path string, client *http.Client) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return requestError("the address of the database cannot be used")
	}
	res, err := egress.Do(client, req, maxDownload)
	switch {
	case err != nil:
		return requestFailure(err)
	case res.Status != http.StatusOK:
		return &tenon.Error{Code: tenon.CodeServer, Message: fmt.Sprintf("the database could not be fetched: status %d", res.Status)}
	case !bytes.HasPrefix(res.Body, []byte("SQLite format 3\x00")):
		return &tenon.Error{Code: tenon.CodeServer, Message: "the download is not an SQLite database"}
	}
	if err := atomicfile.Write(path, res.Body); err != nil {
		return &tenon.Error{Code: tenon.CodeInternal, Message: "cannot store the database", Err: err}
	}
	return nil
}

// readText reads the text of a markdown resource.
func (r resource) readText(o *Options) (string, error) {
	dir := r.Folder(o.reading())
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", format.WithoutPath(err)
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(r.Location))
	if err != nil {
		return "", format.WithoutPath(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxMarkdown+1))
	switch {
	case err != nil:
		return "", format.WithoutPath(err)
	case len(text) > maxMarkdown:
		return "", fmt.Errorf("the text is larger than %d bytes", maxMarkdown)
	}
	return string(text), nil
}
