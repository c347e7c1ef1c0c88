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
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// Bounds of what is kept in memory; files are bounded by an answer's size.
const maxKept = 64 << 20

// kept holds the answers of tools whose files say that they change slowly
// (preload): in memory, and in files where there is a folder. What is kept is
// the answer after the handlers.
type kept struct {
	dir     string
	refresh bool

	mu     sync.Mutex
	memory map[string]keptAnswer
	bytes  int
}

// keptAnswer is the file of one answer.
type keptAnswer struct {
	Meta struct {
		FetchedAt time.Time `json:"fetchedAt"`
		ExpiresAt time.Time `json:"expiresAt"`
		TTL       int       `json:"ttl"`
		Size      int       `json:"size"`
		ParamHash string    `json:"paramHash,omitempty"`
		Media     string    `json:"mediaType"`
		Came      string    `json:"sentAs,omitempty"` // media type that the upstream gave, where it is another
		Status    int       `json:"status"`
		Schema    string    `json:"schemaHash"` // of the file that the answer is for
	} `json:"meta"`
	Data json.RawMessage `json:"data"` // JSON; a text as a string
}

func newKept(o *Options) *kept {
	if o.NoCache {
		return nil
	}
	return &kept{dir: o.CacheDir, refresh: o.Refresh, memory: map[string]keptAnswer{}}
}

// around puts the kept answers before a handler, if the tool's file wants that.
// r runs the handlers of the file; nil: it has none.
func (k *kept) around(t *route, h tenon.Handler, o *Options, r *runner) tenon.Handler {
	ttl := seconds(t.preload.get("ttl"))
	if k == nil || ttl == 0 || !t.preload.get("enabled").yes() || !t.readOnly() {
		return h
	}
	fits := t.keepable()
	return func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		hash := keptKey(t, c, o, r)
		path := filepath.Join(safeName(t.file.namespace), fileBase(t.file.path), safeName(t.name), hash+".json")
		if a, ok := k.get(path); ok && !k.refresh {
			return a.reply(), nil
		}
		reply, err := h(ctx, c)
		if err == nil && fits(&reply) {
			k.put(path, keep(t, reply, ttl, hash))
		}
		return reply, err
	}
}

// keptKey names the answer to a call by all that it depends on: the code and
// the data of the tool, who asks, the arguments, where it is asked for and with
// which credentials. Nothing of that can be read from it.
func keptKey(t *route, c *tenon.Call, o *Options, r *runner) string {
	h := sha256.New()
	add := func(parts ...string) {
		for _, part := range parts {
			_, _ = fmt.Fprintf(h, "%d:%s", len(part), part) // a hash takes all
		}
	}
	args, err := rawjson.AppendCanonical(nil, c.Args)
	switch {
	case len(c.Args) == 0:
		args = []byte("{}")
	case err != nil:
		args = c.Args
	}
	add(t.file.sum, t.id(), string(c.Subject), string(args), o.BaseURL, strconv.FormatBool(t.file.callers), strconv.FormatBool(o.handsOut(t.file)))
	if t.handled && r != nil {
		add(r.program(t.file).Key()) // its shared lists and libraries too
	}
	add(egress.Certificates(o.Client))
	for _, name := range t.file.main.get("requiredServerParams").strs() {
		value, ok := o.Env(name)
		add(name, value, strconv.FormatBool(ok))
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// keepable tells the responses of a tool that are kept: successes that fit what is
// declared. A page that says "log in" or a half answer would else be the answer
// until the time is over.
func (t *route) keepable() func(r *tenon.Response) bool {
	declared := t.answer()
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
			return kind == jsonMedia && rawjson.Check(r.Body) == nil || strings.HasPrefix(kind, "text/") && kind != htmlMedia
		case kind != declared.MediaType:
			return false
		case kind == jsonMedia:
			s := compiled()
			return s != nil && s.Validate(r.Body) == nil
		}
		return kind == textMedia && essence(r.UpstreamMediaType) != htmlMedia
	}
}

func keep(t *route, r tenon.Response, ttl int, hash string) keptAnswer {
	var a keptAnswer
	now := time.Now().UTC()
	a.Meta.FetchedAt, a.Meta.ExpiresAt, a.Meta.TTL = now, now.Add(time.Duration(ttl)*time.Second), ttl
	a.Meta.ParamHash, a.Meta.Media, a.Meta.Came, a.Meta.Status, a.Meta.Schema = hash, r.MediaType, r.UpstreamMediaType, r.Status, t.file.hash
	a.Data = r.Body
	if essence(r.MediaType) != jsonMedia {
		a.Data = rawjson.AppendString(nil, r.Body)
	}
	a.Meta.Size = len(r.Body)
	return a
}

// reply is a kept answer as a handler gives it. _meta says that it was kept.
func (a keptAnswer) reply() tenon.Response {
	body := []byte(a.Data)
	if text, isText := textOf(a.Data); isText && essence(a.Meta.Media) != jsonMedia {
		body = []byte(text)
	}
	meta := `{"flowmcp/cache":{"hit":true,"fetchedAt":"` + a.Meta.FetchedAt.Format(time.RFC3339) + `","expiresAt":"` + a.Meta.ExpiresAt.Format(time.RFC3339) + `"}}`
	return tenon.Response{Status: a.Meta.Status, MediaType: a.Meta.Media, UpstreamMediaType: a.Meta.Came, Body: body, Meta: []byte(meta)}
}

func (k *kept) get(path string) (keptAnswer, bool) {
	k.mu.Lock()
	a, ok := k.memory[path]
	k.mu.Unlock()
	if !ok && k.dir != "" {
		text, err := readUpTo(filepath.Join(k.dir, "answers", path), maxKept)
		ok = err == nil && len(text) <= maxKept && json.Unmarshal(text, &a) == nil && rawjson.Check(a.Data) == nil
		if ok {
			k.remember(path, a)
		}
	}
	return a, ok && time.Now().Before(a.Meta.ExpiresAt)
}

// put keeps an answer. A file that cannot be written costs only the file.
func (k *kept) put(path string, a keptAnswer) {
	k.remember(path, a)
	if k.dir == "" {
		return
	}
	if text, err := json.Marshal(a); err == nil {
		path = filepath.Join(k.dir, "answers", path)
		k.makeRoom(filepath.Dir(path))
		_ = writeWhole(path, text)
	}
}

// maxKeptFiles bounds the files of one tool.
const maxKeptFiles = 1000

// makeRoom removes the oldest quarter of a tool's files where there are too
// many: each change of what an answer depends on makes a new one.
func (k *kept) makeRoom(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < maxKeptFiles {
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
		_ = os.Remove(filepath.Join(dir, e.Name())) // it is removed next time
	}
}

func (k *kept) remember(path string, a keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bytes += len(a.Data) - len(k.memory[path].Data)
	k.memory[path] = a
	for other, b := range k.memory {
		if k.bytes <= maxKept {
			return
		}
		k.bytes -= len(b.Data)
		delete(k.memory, other)
	}
}

// CachedResponse is one answer in the folder of those that are kept.
type CachedResponse struct {
	Tool      string    `json:"tool"` // namespace/file/route
	FetchedAt time.Time `json:"fetchedAt"`
	ExpiresAt time.Time `json:"expiresAt"`
	Size      int       `json:"size"`
	ParamHash string    `json:"paramHash,omitempty"`
}

// CachedResponses lists the answers in a folder for what is kept, those of one
// namespace or all.
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
		text, err := readUpTo(path, maxKept)
		var a keptAnswer
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

// ClearCache removes the answers in a folder for what is kept, those of one
// namespace or all, and with all what was downloaded.
func ClearCache(dir, namespace string) error {
	if namespace != "" {
		if !namespacePattern.MatchString(namespace) {
			return invalid("a namespace has only small letters, digits and hyphens")
		}
		return os.RemoveAll(filepath.Join(dir, "answers", namespace))
	}
	return errors.Join(os.RemoveAll(filepath.Join(dir, "answers")), os.RemoveAll(filepath.Join(dir, "resources")))
}
