// Command answers is the suite for structured output, which the official one
// lacks: `answers TENON [-race BINARY] [-clients FOLDER] [-python INTERPRETER]`.
// It serves a table of upstream answers through the built binary and looks at
// what every client gets, over every endpoint, in every revision, envelope and policy.
//
// It knows nothing of the code that it tests: it sees documents, processes and
// bytes. With -upstream it only serves the table, for who wants to look.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	race := flag.String("race", "", "a tenon with the race detector, for the calls side by side")
	clients := flag.String("clients", "", "the folder with clients of other makers; empty: without them")
	python := flag.String("python", "", "an interpreter with the Python SDK; empty: without it")
	only := flag.String("only", "", "one setting instead of all, as openapi-mcp/warn")
	upstream := flag.Bool("upstream", false, "serve the table and nothing else")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	table := answers()
	addr, err := serveUpstream(ctx, table)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if *upstream {
		fmt.Printf("http://%s/openapi.json\n", addr)
		<-ctx.Done()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	t := &sheet{settings: settings()}
	suite := suite{table: table, addr: addr, tenon: flag.Arg(0), sheet: t}
	for _, s := range settings() {
		if *only != "" && *only != s.String() {
			continue
		}
		suite.ours(ctx, s)
		if *clients != "" {
			suite.others(ctx, s, foreigners(*clients, *python))
		}
	}
	binary := *race
	if binary == "" {
		binary = flag.Arg(0)
	}
	suite.sideBySide(ctx, binary, *race != "")
	if !t.print(os.Stdout, len(table)) {
		os.Exit(1)
	}
}
