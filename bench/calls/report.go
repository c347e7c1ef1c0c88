package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/bench/sample"
)

// record is every measurement of one variant in one cell, a round each.
type record []measured

func (r *record) add(m measured) { *r = append(*r, m) }

func (m measured) perSecond() float64 { return float64(m.requests) / m.took.Seconds() }

// report is what OUT holds.
type report struct {
	Rounds         int                `json:"rounds"`
	SecondsEach    float64            `json:"secondsEach"`
	Cores          int                `json:"coresOfClient"`
	Go             string             `json:"go"`
	Configurations []string           `json:"configurations"`
	Cells          []row              `json:"cells"`
	Least          map[string]float64 `json:"leastRatios"` // of the medians over the numbers of connections
}

// row is one variant in one cell.
type row struct {
	Door        string  `json:"door"`
	Tool        string  `json:"tool"`
	Connections int     `json:"connections"`
	Variant     string  `json:"variant"`
	PerSecond   float64 `json:"perSecond"` // median
	Ratio       spread  `json:"ratio"`     // tenon to this variant, of the same round
	CPUMicros   float64 `json:"cpuMicros"` // of the server, for a request
	Objects     float64 `json:"objects"`   // allocated for a request; 0: not known
}

type spread struct{ Min, Median, Max float64 }

func newReport(cells []*cell, records map[*cell]map[string]*record, configurations []string) *report {
	r := &report{
		Rounds: rounds, SecondsEach: span.Seconds(), Cores: runtime.NumCPU(), Go: runtime.Version(),
		Configurations: configurations, Least: map[string]float64{},
	}
	slices.SortFunc(cells, func(a, b *cell) int {
		return cmp.Or(cmp.Compare(a.Door, b.Door), -cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Connections, b.Connections))
	})
	for _, c := range cells {
		best := map[string]float64{}
		for _, v := range c.variants {
			w := rowOf(c, v.name, *records[c][v.name], *records[c]["tenon"])
			r.Cells = append(r.Cells, w)
			family := strings.TrimSuffix(strings.TrimSuffix(v.name, "-stateless"), "-stateful")
			if old, ok := best[family]; !ok || w.Ratio.Median < old {
				best[family] = w.Ratio.Median // the faster mode of a peer counts
			}
		}
		for family, ratio := range best {
			r.least(key(c, family), ratio)
		}
	}
	return r
}

// key names a ratio for the budgets: the floor of stdio is the loop.
func key(c *cell, family string) string {
	if c.Door == overStdio {
		family = "stdio-" + family
	}
	return family + "-" + c.Tool
}

func (r *report) least(key string, ratio float64) {
	if old, ok := r.Least[key]; !ok || ratio < old {
		r.Least[key] = ratio
	}
}

func rowOf(c *cell, name string, m, tenon record) row {
	w := row{Door: c.Door, Tool: c.Tool, Connections: c.Connections, Variant: name}
	var rates, ratios []float64
	requests, cpu, objects := 0, 0.0, 0.0
	for i := range m {
		rates = append(rates, m[i].perSecond())
		ratios = append(ratios, tenon[i].perSecond()/m[i].perSecond())
		requests += m[i].requests
		cpu += float64(m[i].cpu.Microseconds())
		objects += m[i].objects
	}
	w.PerSecond, w.Ratio = spreadOf(rates).Median, spreadOf(ratios)
	w.CPUMicros, w.Objects = cpu/float64(requests), objects/float64(requests)
	return w
}

func spreadOf(v []float64) spread {
	slices.Sort(v)
	return spread{v[0], v[len(v)/2], v[len(v)-1]}
}

// print writes the table of the README, and what each server said of itself.
func (r *report) print(w io.Writer) {
	fmt.Fprintln(w, "| tools/call | result | clients | server | calls/s | tenon to it (spread) | CPU µs a call | allocations |")
	fmt.Fprintln(w, "|---|---|---:|---|---:|---|---:|---:|")
	for _, c := range r.Cells {
		size, objects := "200 B", "–"
		if c.Tool == sample.Big {
			size = "50 KB"
		}
		if c.Objects > 0 {
			objects = fmt.Sprintf("%.0f", c.Objects)
		}
		ratio := "1"
		if c.Variant != "tenon" {
			ratio = fmt.Sprintf("%.2f (%.2f–%.2f)", c.Ratio.Median, c.Ratio.Min, c.Ratio.Max)
		}
		fmt.Fprintf(w, "| %s | %s | %d | %s | %.0f | %s | %.0f | %s |\n",
			c.Door, size, c.Connections, c.Variant, c.PerSecond, ratio, c.CPUMicros, objects)
	}
	fmt.Fprintln(w)
	for _, line := range r.Configurations {
		fmt.Fprintln(w, "-", line)
	}
}
