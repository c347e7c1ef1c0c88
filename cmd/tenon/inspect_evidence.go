package main

import (
	"fmt"

	"github.com/tenon-mcp/tenon/app"
)

// standing is what is known of a tool's responses.
type standing struct {
	Responses int64  `json:"response_count"`
	Fits      int64  `json:"fit_count"`
	Violated  int64  `json:"violated_count"`
	Last      string `json:"last,omitempty"` // empty: never
}

// addEvidence adds what the ledger knows.
func (in *inspection) addEvidence(w *app.App) error {
	known, err := w.KnownEvidence()
	if err != nil || known == nil {
		return err
	}
	in.Known = true
	for i := range in.Heaviest {
		t := &in.Heaviest[i]
		tool := w.Gateway.Catalog().Find(t.Tool)
		if t.Source == "" || tool == nil || tool.BuiltIn() {
			continue
		}
		s := known(tool)
		t.Evidence = &standing{s.Calls, s.Fits, s.Violated, stamp(s.Last)}
		if in.Responses += s.Calls; s.Calls == 0 {
			in.Never++
		}
	}
	return nil
}

// columns are those of the table of tools.
func (s *standing) columns() string {
	switch {
	case s == nil:
		return "\t\t\t"
	case s.Responses == 0:
		return "\t0\t-\tnever"
	}
	return fmt.Sprintf("\t%d\t%s\t%.10s", s.Responses, share(s.Fits, s.Responses), s.Last)
}

// share is a part in percent, rounded down: 100 % is all.
func share(part, of int64) string { return fmt.Sprintf("%d %%", int64(float64(part)/float64(of)*100)) }
