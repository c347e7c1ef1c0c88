// Command peers is every server of the call benchmark but the tenon binary:
// the floors, which are handlers by hand that check nothing, with a shorter
// answer and with the one that tenon gives; a program that embeds tenon; other libraries, each with the same typed function, in the
// mode that its documentation calls the fastest; and the upstream.
//
//	peers [-stdio] [-cpuprofile FILE] NAME [UPSTREAM]
//
// It prints its configuration and "listening on URL" to standard error and
// serves until standard input ends.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/bench/sample"
)

// peer is one server: how it is configured, and its two endpoints. One of them may
// be nil.
type peer struct {
	configuration string
	http          func() (http.Handler, error)
	stdio         func(context.Context) error
}

func peers(upstream string) map[string]peer {
	return map[string]peer{
		"floor":            floorPeer(),
		"alike":            alikePeer(),
		"limit":            limitPeer(upstream),
		"limit-alike":      limitAlikePeer(upstream),
		"tenon":            tenonPeer(),
		"tenon-openapi":    openAPIPeer(upstream),
		"go-sdk-stateless": goSDKPeer(true),
		"go-sdk-stateful":  goSDKPeer(false),
		"mcp-go-stateless": mcpGoPeer(true),
		"mcp-go-stateful":  mcpGoPeer(false),
	}
}

func main() {
	stdio := flag.Bool("stdio", false, "serve MCP on standard input and output")
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if err := run(flag.Arg(0), flag.Arg(1), *stdio, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(name, upstream string, stdio bool, profile string) error {
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if name == "upstream" {
		return serveUpstream()
	}
	all := peers(upstream)
	p, ok := all[name]
	if !ok {
		names := make([]string, 0, len(all))
		for n := range all {
			names = append(names, n)
		}
		slices.Sort(names)
		return fmt.Errorf("no peer %q; there are upstream, %s", name, strings.Join(names, ", "))
	}
	fmt.Fprintf(os.Stderr, "configuration %s: %s; GOMAXPROCS=%d, %s\n", name, p.configuration, runtime.GOMAXPROCS(0), runtime.Version())
	if stdio {
		if p.stdio == nil {
			return errors.New(name + " has no stdio endpoint")
		}
		return p.stdio(context.Background())
	}
	return serve(p)
}

// serve answers at /mcp, and at /memory with what was allocated so far, until
// standard input ends.
func serve(p peer) error {
	h, err := p.http()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	mux.HandleFunc("/memory", func(w http.ResponseWriter, _ *http.Request) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Fprintf(w, `{"objects":%d,"bytes":%d}`, m.Mallocs, m.TotalAlloc)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s/mcp\n", l.Addr())
	return untilInputEnds(func() error { return http.Serve(l, mux) })
}

// untilInputEnds runs serve until it fails or standard input ends.
func untilInputEnds(serve func() error) error {
	failed := make(chan error, 1)
	go func() { failed <- serve() }()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	select {
	case err := <-failed:
		return err
	case <-ended:
		return nil
	}
}

// bodies are the results as JSON.
func bodies() (map[string][]byte, error) {
	m := map[string][]byte{}
	for name, result := range sample.Results() {
		text, err := json.Marshal(result)
		if err != nil {
			return nil, err
		}
		m[name] = text
	}
	return m, nil
}
