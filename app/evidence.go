package app

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tenon-mcp/tenon/evidence"
	"github.com/tenon-mcp/tenon/gateway"
)

// evidenceOff is the value of Config.Evidence for none.
const evidenceOff = "off"

// EvidenceFile is where a config keeps its ledger of evidence by default, below dir.
func EvidenceFile(dir string) string { return filepath.Join(dir, "evidence.ndjson") }

// openEvidence begins to count. Where that is not possible the server serves without.
func (a *App) openEvidence() {
	path := a.config.Evidence
	switch {
	case path == evidenceOff, path == "" && a.env.EvidenceDir == "":
		return
	case a.env.DryRun, a.env.OnDemand, a.env.Player != nil: // nobody's service, or no service at all
		return
	case path == "":
		path = EvidenceFile(a.env.EvidenceDir)
	}
	r, err := evidence.Open(evidence.Options{Path: path, Describe: describeTool, Key: argumentKey(a.env.EvidenceDir), Logger: a.env.Logger})
	if err != nil {
		a.whyNot = err.Error()
		return
	}
	a.evidence = r
	a.open = append(a.open, r)
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
		Verdict: c.Verdict, Against: c.Against, Violations: c.Violations, Args: r.Args, At: r.Began,
	})
}
