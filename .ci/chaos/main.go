// Command chaos runs three replicas and one more behind a round-robin proxy while
// everything that they depend on fails:
//
//	chaos [-time 90s] [-report FILE] TENON
//
// Every five seconds one of three replicas is killed and started again; the fourth
// lives, reads its config again all the time, and shows what memory does. The store, a Redis that writes down every command,
// is restarted twice, and once nobody reaches it for ten seconds. 32 clients confirm
// orders, read answers in parts and lists in pages, meet limits, and hang up.
//
// The judge is the journal of the upstream: what a client was told must be true of it.
// It knows nothing of the code that it tests. It needs redis-server and haproxy, and
// exits with 64 where they are missing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

func main() {
	lasts := flag.Duration("time", 90*time.Second, "how long clients call")
	report := flag.String("report", "", "the file that gets the report, as Markdown")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: chaos [-time 90s] [-report FILE] TENON")
		os.Exit(2)
	}
	for _, program := range []string{"redis-server", "haproxy"} {
		if _, err := exec.LookPath(program); err != nil {
			fmt.Println("left out: there is no", program)
			os.Exit(64)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Arg(0), *lasts, *report); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, tenon string, lasts time.Duration, report string) error {
	w, err := newWorld(ctx, tenon)
	if err != nil {
		return err
	}
	defer w.close()
	began := time.Now()
	calling, over := context.WithTimeout(ctx, lasts)
	defer over()
	failing := make(chan struct{})
	go func() { defer close(failing); w.fail(calling, lasts) }()
	w.call(calling)
	<-failing
	if ctx.Err() != nil {
		return ctx.Err()
	}
	took := time.Since(began)
	w.settle(ctx)
	text, problems := w.judge(took)
	fmt.Print(text)
	if report != "" {
		if err := os.WriteFile(report, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("%d rules do not hold", len(problems))
	}
	return nil
}
