package flowmcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
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
func (k *kept) around(t *route, h tenon.Handler) tenon.Handler {
	ttl := seconds(t.preload.get("ttl"))
	if k == nil || ttl == 0 || !t.preload.get("enabled").yes() || !t.readOnly() {
		return h
	}
	return func(ctx context.Context, c *tenon.Call) (tenon.Reply, error) {
		path, hash := keptPath(t, c.Args)
		if a, ok := k.get(path); ok && a.Meta.Schema == t.file.hash && !k.refresh {
			return a.reply(), nil
		}
		reply, err := h(ctx, c)
		if err != nil || reply.Status != 0 && (reply.Status < 200 || reply.Status > 299) {
			return reply, err
		}
		if a, ok := keep(t, reply, ttl, hash); ok {
			k.put(path, a)
		}
		return reply, nil
	}
}

// keptPath is where the answer for these arguments is kept: the format's
// namespace/route.json, or namespace/route/hash.json.
func keptPath(t *route, args []byte) (path, hash string) {
	base := filepath.Join(t.file.namespace, fileBase(t.file.path), safeName(t.name))
	doc, err := rawjson.Parse(args)
	if err != nil || doc.Len(doc.Root()) == 0 {
		return base + ".json", ""
	}
	canonical, err := rawjson.AppendCanonical(nil, args)
	if err != nil {
		canonical = args
	}
	sum := sha256.Sum256(canonical)
	hash = hex.EncodeToString(sum[:])[:32]
	return filepath.Join(base, hash+".json"), hash
}

func keep(t *route, r tenon.Reply, ttl int, hash string) (keptAnswer, bool) {
	var a keptAnswer
	now := time.Now().UTC()
	a.Meta.FetchedAt, a.Meta.ExpiresAt, a.Meta.TTL = now, now.Add(time.Duration(ttl)*time.Second), ttl
	a.Meta.ParamHash, a.Meta.Media, a.Meta.Status, a.Meta.Schema = hash, r.Media, r.Status, t.file.hash
	switch {
	case len(r.Body) == 0 || r.Blocks != nil:
		return a, false
	case r.Media == "application/json":
		a.Data = r.Body
	case strings.HasPrefix(r.Media, "text/"):
		a.Data = rawjson.AppendString(nil, string(egress.MendUTF8(r.Body)))
	default:
		return a, false
	}
	a.Meta.Size = len(r.Body)
	return a, true
}

// reply is a kept answer as a handler gives it. _meta says that it was kept.
func (a keptAnswer) reply() tenon.Reply {
	body := []byte(a.Data)
	if text, isText := textOf(a.Data); isText && a.Meta.Media != "application/json" {
		body = []byte(text)
	}
	meta := `{"flowmcp/cache":{"hit":true,"fetchedAt":"` + a.Meta.FetchedAt.Format(time.RFC3339) + `","expiresAt":"` + a.Meta.ExpiresAt.Format(time.RFC3339) + `"}}`
	return tenon.Reply{Status: a.Meta.Status, Media: a.Meta.Media, Body: body, Meta: []byte(meta)}
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
		_ = writeWhole(filepath.Join(k.dir, "answers", path), text)
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

// Kept is one answer in the folder of those that are kept.
type Kept struct {
	Tool      string    `json:"tool"` // namespace/file/route
	FetchedAt time.Time `json:"fetchedAt"`
	ExpiresAt time.Time `json:"expiresAt"`
	Size      int       `json:"size"`
	ParamHash string    `json:"paramHash,omitempty"`
}

// KeptAnswers lists the answers in a folder for what is kept, those of one
// namespace or all.
func KeptAnswers(dir, namespace string) ([]Kept, error) {
	root := filepath.Join(dir, "answers", namespace)
	var all []Kept
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
		all = append(all, Kept{Tool: name, FetchedAt: a.Meta.FetchedAt, ExpiresAt: a.Meta.ExpiresAt, Size: a.Meta.Size, ParamHash: a.Meta.ParamHash})
		return nil
	})
	return all, err
}

// ClearKept removes the answers in a folder for what is kept, those of one
// namespace or all, and with all what was downloaded.
func ClearKept(dir, namespace string) error {
	if namespace != "" {
		if !namespacePattern.MatchString(namespace) {
			return invalid("a namespace has only small letters, digits and hyphens")
		}
		return os.RemoveAll(filepath.Join(dir, "answers", namespace))
	}
	return errors.Join(os.RemoveAll(filepath.Join(dir, "answers")), os.RemoveAll(filepath.Join(dir, "resources")))
}
