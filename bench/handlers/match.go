package main

import (
	"fmt"
	"maps"
	"slices"
)

// match is ours beside the reference, in this order.
type match struct {
	commands [2][]string
	seen     map[string][][2]float64 // by figure

	Figures map[string]figure  `json:"figures"`
	Ratio   map[string]float64 `json:"ratio"`
}

// figure is one thing that was measured: milliseconds, or megabytes.
type figure struct {
	Tenon     float64 `json:"tenon"`
	Reference float64 `json:"reference"`
	Ratio     float64 `json:"ratio"`
	Low       float64 `json:"lowQuartile"` // of the ratio
	High      float64 `json:"highQuartile"`
	Turns     int     `json:"turns"`
}

// round measures both cold, and then warm with one process each.
func (m *match) round() error {
	if m.seen == nil {
		m.seen = map[string][][2]float64{}
	}
	for range 2 {
		var got [2]float64
		for i, command := range m.commands {
			var err error
			if got[i], err = cold(command); err != nil {
				return err
			}
		}
		m.seen["cold"] = append(m.seen["cold"], got)
	}
	var both [2]*process
	for i, command := range m.commands {
		var err error
		if both[i], err = start(command); err != nil {
			return err
		}
	}
	for name, o := range kinds() {
		if err := m.turns(name, o, both); err != nil {
			return err
		}
	}
	var memory [2]float64
	for i, p := range both {
		var err error
		if memory[i], err = p.end(); err != nil {
			return err
		}
	}
	m.seen["memory"] = append(m.seen["memory"], memory)
	return nil
}

// turns has both make calls, each after the other. What a process does after
// its last call counts to its processor time.
func (m *match) turns(name string, o order, both [2]*process) error {
	warm := o
	warm.Calls *= 4
	var before [2]float64
	for i, p := range both {
		if _, err := p.do(warm); err != nil {
			return err
		}
		before[i] = p.processor()
	}
	for range turns {
		var took, used [2]float64
		for i, p := range both {
			got, err := p.do(o)
			if err != nil {
				return err
			}
			took[i] = got.Middle / 1000
			if o.Callers > 1 {
				took[i] = got.Each / 1000
			}
		}
		for i, p := range both {
			now := p.processor()
			used[i], before[i] = (now-before[i])/1000/float64(o.Calls), now
		}
		m.seen[name] = append(m.seen[name], took)
		m.seen[name+"CPU"] = append(m.seen[name+"CPU"], used)
	}
	return nil
}

func (m *match) sum() {
	m.Figures, m.Ratio = map[string]figure{}, map[string]float64{}
	for name, all := range m.seen {
		var values [2][]float64
		var ratios []float64
		for _, got := range all {
			values[0], values[1] = append(values[0], got[0]), append(values[1], got[1])
			ratios = append(ratios, got[0]/got[1])
		}
		f := figure{Tenon: middle(values[0]), Reference: middle(values[1]), Ratio: middle(ratios), Turns: len(all)}
		f.Low, f.High = ratios[len(ratios)/4], ratios[len(ratios)*3/4]
		m.Figures[name], m.Ratio[name] = f, f.Ratio
	}
}

func (m *match) print(cores string) {
	for _, name := range slices.Sorted(maps.Keys(m.Figures)) {
		f := m.Figures[name]
		fmt.Printf("%s cores %-9s tenon %8.3f, reference %8.3f, ratio %.2f (half of %d turns: %.2f to %.2f)\n",
			cores, name, f.Tenon, f.Reference, f.Ratio, f.Turns, f.Low, f.High)
	}
}

// middle sorts and returns the median.
func middle(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
