package flowmcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// maxCacheBytes limits the cache in memory; files are limited by the size of a
// response.
const maxCacheBytes = 64 << 20

// responseCache caches the responses of tools with a preload block: in memory and, where
// there is a folder, in files. Responses are stored after the handlers.
type responseCache struct {
	dir     string
	refresh bool

	mu     sync.Mutex
	memory map[string]cachedResponse
	bytes  int
}

// cachedResponse is the file of one cached response.
type cachedResponse struct {
	Meta struct {
		FetchedAt time.Time `json:"fetchedAt"`
		ExpiresAt time.Time `json:"expiresAt"`
		TTL       int       `json:"ttl"`
		Size      int       `json:"size"`
		ParamHash string    `json:"paramHash,omitempty"`
		Media     string    `json:"mediaType"`
		SentAs    string    `json:"sentAs,omitempty"` // media type sent by the upstream, if different
		Status    int       `json:"status"`
		Schema    string    `json:"schemaHash"` // of the schema file
	} `json:"meta"`
	Data json.RawMessage `json:"data"` // JSON; text as a string
}

func newResponseCache(o *Options) *responseCache {
	if o.NoCache {
		return nil
	}
	return &responseCache{dir: o.CacheDir, refresh: o.Refresh, memory: map[string]cachedResponse{}}
}

// wrap adds the cache to a handler if the tool has a preload block. r runs
// the handlers of the file; nil: it has none.
func (k *responseCache) wrap(t tool, h tenon.Handler, o *Options, r *runner) tenon.Handler {
	ttl := format.Seconds(t.Preload.Get("ttl"))
	if k == nil || ttl == 0 || !t.Preload.Get("enabled").IsTrue() || !t.ReadOnly() {
		return h
	}
	fits := t.cacheable()
	return func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		hash := cacheKey(t, c, o, r)
		path := filepath.Join(fileName(t.File.Namespace), format.FileBase(t.File.Path), fileName(t.Name), hash+".json")
		if a, ok := k.get(path); ok && !k.refresh {
			return a.response(), nil
		}
		response, err := h(ctx, c)
		if err == nil && fits(&response) {
			k.put(path, newCachedResponse(t, response, ttl, hash))
		}
		return response, err
	}
}

// cacheKey hashes everything that a response depends on: the code and the data
// of the tool, the caller, the arguments, the upstream and the credentials.
func cacheKey(t tool, c *tenon.Call, o *Options, r *runner) string {
	h := sha256.New()
	add := func(parts ...string) {
		for _, part := range parts {
			_, _ = fmt.Fprintf(h, "%d:%s", len(part), part) // a hash never fails
		}
	}
	args, err := rawjson.AppendCanonical(nil, c.Args)
	switch {
	case len(c.Args) == 0:
		args = []byte("{}")
	case err != nil:
		args = c.Args
	}
	add(t.File.Sum, t.ID(), string(c.Subject), string(args), o.BaseURL, strconv.FormatBool(t.File.ImplicitParameters), strconv.FormatBool(o.handsOut(t.File)))
	if t.Handled && r != nil {
		add(r.program(t.File).Key()) // includes shared lists and libraries
	}
	add(egress.Certificates(o.Client))
	for _, name := range t.File.Main.Get("requiredServerParams").Strings() {
		value, ok := o.Env(name)
		add(name, value, strconv.FormatBool(ok))
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// cacheable returns a func that reports whether a response is cached: only
// successes that match the declared output. A login page or a partial response
// would otherwise be served until it expires.
func (t tool) cacheable() func(r *tenon.Response) bool {
	declared := t.Response()
	compiled := sync.OnceValue(func() *schema.Schema {
		s, err := schema.Compile(declared.Schema, schema.Options{})
		if err != nil {
			return nil
		}
		return s
	})
	return func(r *tenon.Response) bool {
		kind := essence(r.MediaType)
		switch {
		case r.Status != 0 && (r.Status < 200 || r.Status > 299), len(r.Body) == 0, r.Content != nil, r.Repairs != nil:
			return false
		case declared == nil:
			return kind == format.JSONMedia && rawjson.Check(r.Body) == nil || strings.HasPrefix(kind, "text/") && kind != htmlMedia
		case kind != declared.MediaType:
			return false
		case kind == format.JSONMedia:
			s := compiled()
			return s != nil && s.Validate(r.Body) == nil
		}
		return kind == textMedia && essence(r.UpstreamMediaType) != htmlMedia
	}
}

func newCachedResponse(t tool, r tenon.Response, ttl int, hash string) cachedResponse {
	var a cachedResponse
	now := time.Now().UTC()
	a.Meta.FetchedAt, a.Meta.ExpiresAt, a.Meta.TTL = now, now.Add(time.Duration(ttl)*time.Second), ttl
	a.Meta.ParamHash, a.Meta.Media, a.Meta.SentAs, a.Meta.Status, a.Meta.Schema = hash, r.MediaType, r.UpstreamMediaType, r.Status, t.File.Hash
	a.Data = r.Body
	if essence(r.MediaType) != format.JSONMedia {
		a.Data = rawjson.AppendString(nil, r.Body)
	}
	a.Meta.Size = len(r.Body)
	return a
}

// response converts a cached response. _meta marks it as cached.
func (a cachedResponse) response() tenon.Response {
	body := []byte(a.Data)
	if text, isText := jsonString(a.Data); isText && essence(a.Meta.Media) != format.JSONMedia {
		body = []byte(text)
	}
	meta := `{"flowmcp/cache":{"hit":true,"fetchedAt":"` + a.Meta.FetchedAt.Format(time.RFC3339) + `","expiresAt":"` + a.Meta.ExpiresAt.Format(time.RFC3339) + `"}}`
	return tenon.Response{Status: a.Meta.Status, MediaType: a.Meta.Media, UpstreamMediaType: a.Meta.SentAs, Body: body, Meta: []byte(meta)}
}

func (k *responseCache) get(path string) (cachedResponse, bool) {
	k.mu.Lock()
	a, ok := k.memory[path]
	k.mu.Unlock()
	if !ok && k.dir != "" {
		text, err := format.ReadUpTo(filepath.Join(k.dir, "answers", path), maxCacheBytes)
		ok = err == nil && len(text) <= maxCacheBytes && json.Unmarshal(text, &a) == nil && rawjson.Check(a.Data) == nil
		if ok {
			k.store(path, a)
		}
	}
	return a, ok && time.Now().Before(a.Meta.ExpiresAt)
}

// put stores a response. Failing to write the file is ignored.
func (k *responseCache) put(path string, a cachedResponse) {
	k.store(path, a)
	if k.dir == "" {
		return
	}
	if text, err := json.Marshal(a); err == nil {
		path = filepath.Join(k.dir, "answers", path)
		k.evictFiles(filepath.Dir(path))
		_ = atomicfile.Write(path, text)
	}
}

// maxCacheFiles limits the files of one tool.
const maxCacheFiles = 1000

// evictFiles removes the oldest quarter of a tool's files where there are too
// many: each change of an input creates a new one.
func (k *responseCache) evictFiles(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < maxCacheFiles {
		return
	}
	age := func(e fs.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(age(a), age(b)) })
	for _, e := range entries[:len(entries)/4] {
		_ = os.Remove(filepath.Join(dir, e.Name())) // retried next time
	}
}

func (k *responseCache) store(path string, a cachedResponse) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bytes += len(a.Data) - len(k.memory[path].Data)
	k.memory[path] = a
	for other, b := range k.memory {
		if k.bytes <= maxCacheBytes {
			return
		}
		k.bytes -= len(b.Data)
		delete(k.memory, other)
	}
}

// CachedResponse is one response in the cache folder.
type CachedResponse struct {
	Tool      string    `json:"tool"` // namespace/file/route
	FetchedAt time.Time `json:"fetchedAt"`
	ExpiresAt time.Time `json:"expiresAt"`
	Size      int       `json:"size"`
	ParamHash string    `json:"paramHash,omitempty"`
}

// CachedResponses lists the responses in a cache folder, those of one namespace
// or all.
func CachedResponses(dir, namespace string) ([]CachedResponse, error) {
	root := filepath.Join(dir, "answers", namespace)
	var all []CachedResponse
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == root {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		text, err := format.ReadUpTo(path, maxCacheBytes)
		var a cachedResponse
		if err != nil || json.Unmarshal(text, &a) != nil {
			return err
		}
		name, err := filepath.Rel(filepath.Join(dir, "answers"), path)
		if err != nil {
			return err
		}
		name = strings.TrimSuffix(filepath.ToSlash(name), ".json")
		if a.Meta.ParamHash != "" {
			name = strings.TrimSuffix(name, "/"+a.Meta.ParamHash)
		}
		all = append(all, CachedResponse{Tool: name, FetchedAt: a.Meta.FetchedAt, ExpiresAt: a.Meta.ExpiresAt, Size: a.Meta.Size, ParamHash: a.Meta.ParamHash})
		return nil
	})
	return all, err
}

// ClearCache removes the responses in a cache folder, those of one namespace
// or, together with downloads, all.
func ClearCache(dir, namespace string) error {
	if namespace != "" {
		if !format.NamespacePattern.MatchString(namespace) {
			return validationError("a namespace has only small letters, digits and hyphens")
		}
		return os.RemoveAll(filepath.Join(dir, "answers", namespace))
	}
	return errors.Join(os.RemoveAll(filepath.Join(dir, "answers")), os.RemoveAll(filepath.Join(dir, "resources")))
}

// fileName converts a tool's name, which may be a path, to a file name.
func fileName(name string) string {
	safe := []byte(name)
	for i, b := range safe {
		if !isAlnum(b) && b != '-' && b != '_' && b != '.' {
			safe[i] = '_'
		}
	}
	if len(safe) > 120 {
		safe = safe[:120]
	}
	if len(safe) == 0 || safe[0] == '.' {
		return "_" + string(safe)
	}
	return string(safe)
}

func isAlnum(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}
