package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// sum is what is known of all documents together. Times are CPU seconds.
type sum struct {
	Documents  int     `json:"documents"`
	Unopened   int     `json:"unopened"`
	Tools      int     `json:"tools"`
	Skipped    int     `json:"skipped"`
	Schemas    int     `json:"schemas"`
	Distinct   int     `json:"distinct"`
	Refused    int     `json:"refused"`
	FirstPages float64 `json:"firstPages"`
	All        float64 `json:"all"`
	ByKin      int     `json:"countedByKin"`
	ByHand     int     `json:"countedByHand"`
	Undeclared int     `json:"undeclared"`
	Differing  int     `json:"differing"`
}

func sumOf(rows []row) sum {
	s := sum{Documents: len(rows)}
	for _, r := range rows {
		s.Tools += r.Tools
		s.Skipped += r.Skipped
		s.Schemas += r.Schemas
		s.Distinct += r.Distinct
		s.Refused += len(r.Bad)
		s.All += r.All
		s.Undeclared += r.Undeclared
		if !r.Opened {
			s.Unopened++
		}
		if r.Differs != "" {
			s.Differing++
		}
		switch r.Oracle {
		case "kin-openapi":
			s.ByKin++
		case "raw JSON":
			s.ByHand++
		}
	}
	return s
}

func (s sum) write(file string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// report prints the sum, and each document that is not as it should be.
func (s sum) report(w io.Writer, rows []row, compilers string) {
	var undeclared []string
	for _, r := range rows {
		if r.Undeclared > 0 {
			undeclared = append(undeclared, fmt.Sprintf("%d in %s", r.Undeclared, r.Name))
		}
	}
	fmt.Fprintf(w, `# Documents of the corpus

| | |
|---|---|
| documents | %d |
| opened | %d |
| tools | %d |
| operations skipped, with a diagnostic | %d |
| schemas published | %d, %d distinct |
| that a compiler refuses (%s) | %d |
| CPU to open, index and render the first page of all (of each the quickest of three) | %.1f s |
| CPU to render every tool | %.1f s |
| operations and arguments counted by kin-openapi as well | %d documents |
| counted in the raw JSON, as kin-openapi refuses the document | %d documents |
| arguments that a path names and no parameter declares, counted besides | %s |
| counts that differ | %d |
`, s.Documents, s.Documents-s.Unopened, s.Tools, s.Skipped, s.Schemas, s.Distinct, compilers, s.Refused, s.FirstPages, s.All,
		s.ByKin, s.ByHand, cmp.Or(strings.Join(undeclared, ", "), "none"), s.Differing)
	for _, r := range rows {
		var wrong []string
		if !r.Opened {
			wrong = append(wrong, "does not open: "+r.Error)
		}
		wrong = append(wrong, r.Bad...)
		if r.Differs != "" {
			wrong = append(wrong, r.Differs)
		}
		if len(wrong) > 0 {
			fmt.Fprintf(w, "\n- %s: %s\n", r.Name, strings.Join(wrong, "; "))
		}
	}
}
