package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// grace is how long after a failure of the store its traces are still seen: connections
// that are made again, and limits that do not ask the store for five seconds.
const grace = 8 * time.Second

// progress is a line for the terminal.
func (w *world) progress() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	by := map[kind]int{}
	for i := range w.told {
		by[w.told[i].kind]++
	}
	return fmt.Sprintf("%d right, %d errors, %d without an answer, %d withdrawn, %d broken; %d replicas killed", by[right], by[failed], by[lost], by[withdrew], by[broken], w.kills)
}

// withoutStore reports whether the store was away at some time of o.
func (w *world) withoutStore(o *outcome) bool {
	return slices.ContainsFunc(w.gone, func(p period) bool {
		return o.ended.After(p.from) && (p.to.IsZero() || o.began.Before(p.to.Add(grace)))
	})
}

// judge compares what clients were told with the journal. It returns a report, and what
// does not hold.
func (w *world) judge(took time.Duration) (report string, problems []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.journal.mu.Lock()
	waiting := w.journal.waiting
	w.journal.mu.Unlock()
	failures := map[string]int{}
	examples := map[string]string{}
	for i := range w.told {
		o := &w.told[i]
		if why := w.wrong(o); why != "" {
			failures[why]++
			examples[why] = fmt.Sprintf("%s %s: %s %s %.200s", o.operation, o.id, o.kind, o.code, o.text)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(failures)) {
		problems = append(problems, fmt.Sprintf("%s: %d, such as %s", why, failures[why], examples[why]))
	}
	if waiting > 0 {
		problems = append(problems, fmt.Sprintf("%d requests go on whose callers have gone", waiting))
	}
	limits, why := w.limits(took)
	problems = append(problems, why...)
	grown, why := w.grown(took)
	problems = append(problems, why...)
	return w.table(took, limits, grown, problems), problems
}

// wrong says which rule o breaks; empty: none.
func (w *world) wrong(o *outcome) string {
	came := w.journal.times(o.operation, o.id)
	needsStore := o.operation == "order" || o.operation == "limited" || o.operation == "big"
	switch {
	case o.kind == broken:
		return "an answer is wrong"
	case o.operation != "big" && came > 1: // big is asked for again where no answer comes
		return "a call was executed twice"
	case o.operation == "list":
		if o.kind == failed {
			return "a list failed"
		}
		return ""
	case o.kind == right && came == 0:
		return "a call that was answered was not made"
	case o.executed == "yes" && came == 0:
		return "a client was told that a call was executed, which was not"
	case o.executed == "no" && o.sends < 2 && came > 0:
		return "a client was told that a call was not executed, which was"
	case o.kind != failed || o.code == askedAgain:
		return ""
	case o.operation == "limited" && o.code == "rate_limited":
		if o.wait == 0 {
			return "a client at its limit was not told how long to wait"
		}
		return ""
	case o.operation == "order" && (strings.Contains(o.text, "already used") || strings.Contains(o.text, "did not confirm")):
		return ""
	case !needsStore:
		return "a call failed that needs no store"
	case !w.withoutStore(o):
		return "a call failed while the store was there"
	case o.wait == 0:
		return "a client was not told how long the store will be away"
	}
	return ""
}

// limits compares the calls of the limited tool with what all may make together: never
// more than a twentieth above it, and no less than a twentieth below it in the time in
// which the store was there.
func (w *world) limits(took time.Duration) (line string, problems []string) {
	w.journal.mu.Lock()
	came := slices.Clone(w.journal.limited)
	w.journal.mu.Unlock()
	there := took
	for _, p := range w.gone {
		there -= p.to.Sub(p.from) + grace
	}
	most, least := 1.05*(rate*took.Seconds()+burst), 0.95*rate*there.Seconds()
	line = fmt.Sprintf("%d calls of the tool with a limit of %d a second; %.0f were allowed in %.0f s, and %.0f had to be", len(came), rate, most, took.Seconds(), least)
	if n := float64(len(came)); n > most || n < least {
		problems = append(problems, "the limit does not hold: "+line)
	}
	slices.SortFunc(came, time.Time.Compare)
	const window = 5
	for i := range came { // no five seconds have more either, not even after a failure
		j := i
		for j < len(came) && came[j].Sub(came[i]) < window*time.Second {
			j++
		}
		if allowed := 1.05 * (rate*window + burst); float64(j-i) > allowed+1 {
			return line, append(problems, fmt.Sprintf("the limit does not hold: %d calls in %d seconds, %.0f are allowed", j-i, window, allowed))
		}
	}
	return line, problems
}

// settles is how long a run must last before its memory says anything: tables that have
// a bound fill for half a minute, and the second third is one without a store for the
// most part of a shorter run.
const settles = 90 * time.Second

// grown compares the memory of the replica that lives in the last third with that in
// the second.
func (w *world) grown(took time.Duration) (line string, problems []string) {
	if w.memory[1].samples == 0 || w.memory[2].samples == 0 {
		return "not measured", nil
	}
	second, last := w.memory[1].kib/w.memory[1].samples, w.memory[2].kib/w.memory[2].samples
	line = fmt.Sprintf("%d MB in the second third, %d MB in the last, %.2f times as much", second>>10, last>>10, float64(last)/float64(second))
	if took < settles {
		return line + "; too short a run to judge", nil
	}
	if float64(last) > 1.1*float64(second) {
		problems = append(problems, "the memory grows: "+line)
	}
	return line, problems
}

// table is the report.
func (w *world) table(took time.Duration, limits, grown string, problems []string) string {
	kinds := []kind{right, failed, lost, withdrew, broken}
	rows := map[string]map[kind]int{}
	errorsOf := map[string]int{}
	for i := range w.told {
		o := &w.told[i]
		if rows[o.operation] == nil {
			rows[o.operation] = map[kind]int{}
		}
		rows[o.operation][o.kind]++
		if o.kind == failed {
			errorsOf[o.operation+": "+o.code]++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Replicas while everything fails\n\n%d clients for %.0f seconds; %d replicas killed, the store away %d times, for %.0f seconds.\n\n", clients, took.Seconds(), w.kills, len(w.gone), w.awayFor().Seconds())
	b.WriteString("| what | right | error | no answer | withdrawn | wrong |\n|---|---|---|---|---|---|\n")
	for _, operation := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "| %s |", operation)
		for _, k := range kinds {
			fmt.Fprintf(&b, " %d |", rows[operation][k])
		}
		b.WriteString("\n")
	}
	b.WriteString("\nErrors: ")
	var list []string
	for _, name := range slices.Sorted(maps.Keys(errorsOf)) {
		list = append(list, fmt.Sprintf("%s %d", name, errorsOf[name]))
	}
	fmt.Fprintf(&b, "%s.\n\nLimit: %s.\n\nMemory of the replica that lives: %s.\n\n", strings.Join(list, ", "), limits, grown)
	if len(problems) == 0 {
		b.WriteString("Every call was answered once and right, or with a true error; none was executed twice.\n")
	}
	for _, p := range problems {
		b.WriteString("- DOES NOT HOLD: " + p + "\n")
	}
	return b.String()
}

func (w *world) awayFor() (sum time.Duration) {
	for _, p := range w.gone {
		sum += p.to.Sub(p.from)
	}
	return sum
}
