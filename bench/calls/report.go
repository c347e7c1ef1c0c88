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

func (m measured) cpuMicros() float64 { return m.cpu.Seconds() * 1e6 / float64(m.requests) }

// report is what OUT holds.
type report struct {
	Rounds         int                `json:"rounds"`
	SecondsEach    float64            `json:"secondsEach"`
	Cores          int                `json:"coresOfClient"`
	Go             string             `json:"go"`
	Configurations []string           `json:"configurations"`
	Cells          []row              `json:"cells"`
	Least          map[string]float64 `json:"leastRatios"` // of calls per second: the medians, over the numbers of connections
	LeastCPU       map[string]float64 `json:"leastCPU"`    // the same of processor time a call: what budgets are of
}

// row is one variant in one cell.
type row struct {
	Endpoint    string  `json:"endpoint"`
	Tool        string  `json:"tool"`
	Connections int     `json:"connections"`
	Variant     string  `json:"variant"`
	PerSecond   float64 `json:"perSecond"` // median
	Ratio       spread  `json:"ratio"`     // tenon's calls to those of this variant, of the same round
	CPU         spread  `json:"cpu"`       // this variant's processor time a call to that of tenon, of the same round
	CPUMicros   float64 `json:"cpuMicros"` // of the server, for a request
	Objects     float64 `json:"objects"`   // allocated for a request; 0: not known
}

type spread struct{ Min, Median, Max float64 }

func (s spread) String() string { return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Min, s.Max) }

func newReport(cells []*cell, records map[*cell]map[string]*record, configurations []string) *report {
	r := &report{
		Rounds: rounds, SecondsEach: span.Seconds(), Cores: runtime.NumCPU(), Go: runtime.Version(),
		Configurations: configurations, Least: map[string]float64{}, LeastCPU: map[string]float64{},
	}
	slices.SortFunc(cells, func(a, b *cell) int {
		return cmp.Or(cmp.Compare(a.Endpoint, b.Endpoint), -cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Connections, b.Connections))
	})
	for _, c := range cells {
		best := map[string]row{}
		for _, v := range c.variants {
			w := rowOf(c, v.name, *records[c][v.name], *records[c]["tenon"])
			r.Cells = append(r.Cells, w)
			family := strings.TrimSuffix(strings.TrimSuffix(v.name, "-stateless"), "-stateful")
			if old, ok := best[family]; !ok || w.CPU.Median < old.CPU.Median {
				best[family] = w // the faster mode of a peer counts
			}
		}
		for family, w := range best {
			least(r.Least, key(c, family), w.Ratio.Median)
			least(r.LeastCPU, key(c, family), w.CPU.Median)
		}
	}
	return r
}

// key names a ratio for the budgets: the floor of stdio is the loop.
func key(c *cell, family string) string {
	if c.Endpoint == overStdio {
		family = "stdio-" + family
	}
	return family + "-" + c.Tool
}

func least(all map[string]float64, key string, ratio float64) {
	if old, ok := all[key]; !ok || ratio < old {
		all[key] = ratio
	}
}

func rowOf(c *cell, name string, m, tenon record) row {
	w := row{Endpoint: c.Endpoint, Tool: c.Tool, Connections: c.Connections, Variant: name}
	var rates, ratios, costs []float64
	requests, cpu, objects := 0, 0.0, 0.0
	for i := range m {
		rates = append(rates, m[i].perSecond())
		ratios = append(ratios, tenon[i].perSecond()/m[i].perSecond())
		costs = append(costs, m[i].cpuMicros()/tenon[i].cpuMicros())
		requests += m[i].requests
		cpu += float64(m[i].cpu.Microseconds())
		objects += m[i].objects
	}
	w.PerSecond, w.Ratio, w.CPU = spreadOf(rates).Median, spreadOf(ratios), spreadOf(costs)
	w.CPUMicros, w.Objects = cpu/float64(requests), objects/float64(requests)
	return w
}

func spreadOf(v []float64) spread {
	slices.Sort(v)
	return spread{v[0], v[len(v)/2], v[len(v)-1]}
}

// print writes the table of the README, and what each server said of itself.
func (r *report) print(w io.Writer) {
	fmt.Fprintln(w, "| tools/call | result | clients | server | calls/s | tenon to it (spread) | CPU µs a call | to that of tenon (spread) | allocations |")
	fmt.Fprintln(w, "|---|---|---:|---|---:|---|---:|---|---:|")
	for _, c := range r.Cells {
		size, objects := "200 B", "–"
		switch c.Tool {
		case sample.Big:
			size = "50 KB"
		case sample.Echo:
			size = "1 KB both ways"
		}
		if c.Objects > 0 {
			objects = fmt.Sprintf("%.0f", c.Objects)
		}
		ratio, cost := "1", "1"
		if c.Variant != "tenon" {
			ratio, cost = c.Ratio.String(), c.CPU.String()
		}
		fmt.Fprintf(w, "| %s | %s | %d | %s | %.0f | %s | %.0f | %s | %s |\n",
			c.Endpoint, size, c.Connections, c.Variant, c.PerSecond, ratio, c.CPUMicros, cost, objects)
	}
	fmt.Fprintln(w)
	for _, line := range r.Configurations {
		fmt.Fprintln(w, "-", line)
	}
}
