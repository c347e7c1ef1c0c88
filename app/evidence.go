package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon/evidence"
	"github.com/tenon-mcp/tenon/gateway"
)

// evidenceOff is the value of Config.Evidence for none.
const evidenceOff = "off"

// EvidenceFile is where a config keeps its ledger of evidence by default, below dir.
func EvidenceFile(dir string) string { return filepath.Join(dir, "evidence.ndjson") }

// openEvidence begins to count. Where that is not possible the server serves without.
func (a *App) openEvidence() {
	path := a.ledger()
	if path == "" || a.env.DryRun || a.env.OnDemand || a.env.Player != nil { // nobody's service, or no service at all
		return
	}
	r, err := evidence.Open(evidence.Options{Path: path, Describe: describeTool, Key: argumentKey(a.env.EvidenceDir), Learn: a.config.Learn, Store: a.env.Store, Logger: a.env.Logger})
	if err != nil {
		a.whyNot = err.Error()
		return
	}
	a.evidence = r
	a.open = append(a.open, r)
}

// ledger is the file of the ledger; empty: there is none.
func (a *App) ledger() string {
	switch path := a.config.Evidence; {
	case path == evidenceOff, path == "" && a.env.EvidenceDir == "":
		return ""
	case path == "":
		return EvidenceFile(a.env.EvidenceDir)
	default:
		return path
	}
}

// KnownEvidence tells what is known of tools by the ledger as it is now. nil: there is
// none.
func (a *App) KnownEvidence() (func(*gateway.Tool) *evidence.Standing, error) {
	path := a.ledger()
	if path == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	l, err := evidence.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nobody has counted yet
	}
	if err != nil {
		return nil, err
	}
	counts := l.Sum()
	return func(t *gateway.Tool) *evidence.Standing {
		return evidence.Compare(counts, []evidence.Described{{Operation: EvidenceOf(t), Tool: t.Name()}}).Tools[t.Name()]
	}, nil
}

// evidenceMeta makes _meta of definitions from the ledger as it is when the first is
// rendered, for all of a catalog.
func (a *App) evidenceMeta() func(*gateway.Tool) []byte {
	known := sync.OnceValue(func() func(*gateway.Tool) *evidence.Standing {
		f, err := a.KnownEvidence()
		if err != nil {
			a.env.Logger.Warn("evidence cannot be read, definitions have none", "error", err)
		}
		return f
	})
	return func(t *gateway.Tool) []byte {
		of := known()
		if of == nil || t.BuiltIn() || t.Source() == "" {
			return nil
		}
		s := of(t)
		meta := fmt.Appendf(nil, `{"tenon/evidence":{"calls":%d,"fits":%d,"violated":%d`, s.Calls, s.Fits, s.Violated)
		if !s.Last.IsZero() {
			meta = fmt.Appendf(meta, `,"last":%q`, s.Last.Format(time.RFC3339))
		}
		return append(meta, "}}"...)
	}
}

// argumentKey is the key of the digests of arguments, which stays with the user: the
// same for all ledgers, and in none of them. nil: it cannot be kept.
func argumentKey(dir string) []byte {
	if dir == "" {
		return nil
	}
	path := filepath.Join(dir, "evidence.key")
	key, err := os.ReadFile(path) //nolint:gosec // a file that the operator named, or in the cache folder
	if err == nil && len(key) >= 16 {
		return key
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) || os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // as above
	if err != nil {
		return nil // another process was faster, and this one counts by a key of its own
	}
	key = []byte(rand.Text())
	if _, err := f.Write(key); err != nil {
		key = nil
	}
	if f.Close() != nil {
		return nil
	}
	return key
}

// Evidence says where evidence is kept. Both are empty if nobody asked for it; without
// a file, problem says why it is not kept.
func (a *App) Evidence() (file, problem string) {
	if a.evidence == nil {
		return "", a.whyNot
	}
	return a.evidence.Path(), ""
}

// CountEvidence counts in a ledger how responses compare with their schemas, for who
// makes a gateway without an App: the observer is for the gateway's options.
func CountEvidence(path string, e Env) (*evidence.Recorder, gateway.Observer, error) {
	r, err := evidence.Open(evidence.Options{Path: path, Describe: describeTool, Logger: e.Logger})
	if err != nil {
		return nil, nil, err
	}
	return r, evidenceObserver{r}, nil
}

// describeTool is what a tool calls.
func describeTool(tool any) evidence.Operation {
	t, ok := tool.(*gateway.Tool)
	if !ok {
		return evidence.Operation{}
	}
	return EvidenceOf(t)
}

// EvidenceOf is what evidence of a tool is kept under: the first of its names in the
// description, or method and path, whatever name it is served by.
func EvidenceOf(t *gateway.Tool) evidence.Operation {
	tool := t.Tool()
	o := evidence.Operation{Name: tool.Original, Responses: t.Responses()}
	if tool.Upstream != nil {
		o.Origin = tool.Upstream()
	}
	if tool.Labels != nil {
		switch l := tool.Labels(); {
		case len(l.IDs) > 0 && l.IDs[0] != "":
			o.Name = l.IDs[0]
		case l.Path != "":
			o.Name = l.Method + " " + l.Path
		}
	}
	return o
}

// evidenceObserver tells a recorder of the responses of calls.
type evidenceObserver struct{ to *evidence.Recorder }

// ObserveCall implements [gateway.Observer].
func (o evidenceObserver) ObserveCall(_ context.Context, r *gateway.CallRecord) {
	c := &r.Checked
	if c.Verdict == "" || r.Tool == nil {
		return
	}
	o.to.Observe(&evidence.Observation{
		Tool: r.Tool, Declared: c.Declared, Status: c.AsStatus, MediaType: c.AsMedia, SentStatus: c.Status, SentMediaType: c.MediaType,
		Verdict: c.Verdict, Against: c.Against, Violations: c.Violations, Subject: r.Call.Subject, Args: r.Args, Body: c.Body, At: r.Began,
	})
}
