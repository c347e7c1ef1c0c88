// Command mutants changes the product one line at a time, and says which changes
// the test that has to notice does not notice: `mutants [-only PATTERN] [-tenth N]`,
// from the root of the module. The changes are in the .txt files beside it.
//
// It does not know what the lines mean, and leaves the tree as it is: a changed
// file is laid over the real one for one build (go build -overlay).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

// options are the flags.
type options struct {
	only    string
	tenth   int
	within  time.Duration
	check   bool
	verbose bool
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "the mutants whose table, file, reason or test match this regular expression")
	flag.IntVar(&o.tenth, "tenth", -1, "one tenth of the mutants, chosen by the last digit of this number; -1: all")
	flag.DurationVar(&o.within, "within", 0, "no mutant is begun after this time; 0: there is no such time")
	flag.BoolVar(&o.check, "check", false, "only look whether each mutant can be made")
	flag.BoolVar(&o.verbose, "v", false, "name those that are noticed, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		failed = true
	}
	if failed {
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (failed bool, err error) {
	files, err := filepath.Glob(".ci/mutants/*.txt")
	if err != nil || len(files) == 0 {
		return false, errors.New("there is no table of mutants below the current folder")
	}
	all, err := readTables(files)
	if err != nil {
		return false, err
	}
	for _, m := range all {
		if problem := m.make(); problem != "" {
			failed = true
			fmt.Printf("%s: %s\n", m, problem)
		}
	}
	if o.check || failed {
		fmt.Printf("%d mutants in %d tables\n", len(all), len(files))
		return failed, nil
	}
	chosen, err := choose(all, o)
	if err != nil {
		return false, err
	}
	began := time.Now()
	b := &bench{verbose: o.verbose}
	if o.within > 0 {
		b.until = began.Add(o.within)
	}
	if b.folder, err = os.MkdirTemp("", "mutants"); err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(b.folder) }()
	b.run(ctx, chosen, runtime.NumCPU())
	fmt.Printf("%d of %d mutants: %d noticed, %d not, in %d s", len(chosen), len(all), b.noticed, b.failed, int(time.Since(began).Seconds()))
	if left := len(chosen) - b.noticed - b.failed; left > 0 {
		fmt.Printf("; %d were not tried, the time was over", left)
	}
	fmt.Println()
	return b.failed > 0, ctx.Err()
}

// choose returns the mutants that the flags name.
func choose(all []*mutant, o options) (chosen []*mutant, err error) {
	wanted, err := regexp.Compile("(?i)" + o.only)
	if err != nil {
		return nil, err
	}
	for i, m := range all {
		if wanted.MatchString(m.subject+"\n"+m.file+"\n"+m.why+"\n"+m.test) && (o.tenth < 0 || i%10 == o.tenth%10) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no mutant matches %q", o.only)
	}
	return chosen, nil
}
