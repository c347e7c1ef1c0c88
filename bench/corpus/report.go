package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// good tells whether everything opened, every schema compiled and no count
// differs.
func good(rows []row) bool {
	for _, r := range rows {
		if !r.Opened || len(r.Bad) > 0 || r.Differs != "" {
			return false
		}
	}
	return true
}

// report prints the sum of all rows, and each that is not as it should be.
func report(w io.Writer, rows []row, compilers string) {
	var sum row
	opened, bad, differ, byKin, byHand := 0, 0, 0, 0, 0
	var undeclared []string
	for _, r := range rows {
		if r.Opened {
			opened++
		}
		sum.Tools += r.Tools
		sum.Skipped += r.Skipped
		sum.Schemas += r.Schemas
		sum.Distinct += r.Distinct
		sum.FirstPage += r.FirstPage
		sum.All += r.All
		bad += len(r.Bad)
		switch r.Oracle {
		case "kin-openapi":
			byKin++
		case "raw JSON":
			byHand++
		}
		if r.Differs != "" {
			differ++
		}
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
| operations skipped, with a fault | %d |
| schemas published | %d, %d distinct |
| that %s refuse | %d |
| CPU to open, index and render the first page of all | %.1f s |
| CPU to render every tool | %.1f s |
| counts compared with kin-openapi | %d |
| counts compared with the raw JSON, as kin-openapi refuses the document | %d |
| arguments counted besides, which a path names and no parameter declares | %s |
| counts that differ | %d |
`, len(rows), opened, sum.Tools, sum.Skipped, sum.Schemas, sum.Distinct, compilers, bad, sum.FirstPage, sum.All, byKin, byHand, cmp.Or(strings.Join(undeclared, ", "), "none"), differ)
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
