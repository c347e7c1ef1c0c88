package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/bookshop"
	"github.com/tenon-mcp/tenon/internal/mcpclient"
	"github.com/tenon-mcp/tenon/server"
)

func TestMain(m *testing.M) {
	keepCacheClean()
	_ = os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=10") // else each of hundreds of commands sleeps a second before it ends
	testscript.Main(m, map[string]func(){"tenon": main, "adder": adder})
}

// keepCacheClean gives what tests start a cache folder of its own, so that their
// services are no evidence for the user. The cache of Go stays.
func keepCacheClean() {
	dir, err := os.UserCacheDir()
	if err != nil || os.Getenv("GOCACHE") != "" || !strings.Contains(filepath.Base(os.Args[0]), ".test") { // a command that a test starts
		return
	}
	for name, value := range map[string]string{
		"GOCACHE": filepath.Join(dir, "go-build"), "XDG_CACHE_HOME": filepath.Join(os.TempDir(), "tenon-test-cache"), "LocalAppData": filepath.Join(os.TempDir(), "tenon-test-cache"),
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
}

// TestScripts drives the real command. The first word of a script's name is
// the subcommand. Each script has a bookshop of its own at $SHOP.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_GOLDEN") != "",
		Setup: func(env *testscript.Env) error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			web := &http.Server{Handler: bookshop.New(bookshop.Options{}), ReadHeaderTimeout: time.Minute}
			go func() { _ = web.Serve(l) }()
			env.Defer(func() { _ = web.Close() })
			env.Setenv("SHOP", l.Addr().String())
			for _, name := range []string{"XDG_CACHE_HOME", "LocalAppData"} {
				env.Setenv(name, filepath.Join(env.WorkDir, ".cache"))
			}
			cases, err := filepath.Abs(filepath.Join("..", "..", "internal", "bookshop", "cases.yaml"))
			env.Setenv("CASES", cases)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			if err != nil {
				return err
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "race" {
				return false, fmt.Errorf("there is no condition %q", name)
			}
			return raced, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitlog": waitLog,
			"mcp":     callMCP,
			"mask":    mask,
		},
	})
}

// waitLog FILE PREFIX waits for a line that contains PREFIX and sets $ADDR to
// the word behind it, without scheme and path.
func waitLog(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			if _, rest, ok := strings.Cut(line, args[1]); ok && strings.HasSuffix(line, "\n") {
				addr := strings.TrimSpace(rest)
				addr = strings.TrimSuffix(strings.TrimPrefix(addr, "http://"), "/mcp")
				ts.Setenv("ADDR", addr)
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s never said %q", args[0], args[1])
}

// callMCP ADDR TOOL ARGUMENTS calls a tool over HTTP and writes the result to
// the file "result".
func callMCP(ts *testscript.TestScript, neg bool, args []string) {
	c := mcpclient.OverHTTP("http://"+args[0]+"/mcp", &http.Client{}, nil, mcpclient.Options{Name: "test", Version: "1", Revision: mcpclient.Modern})
	defer c.Close()
	res, err := c.Call(context.Background(), &tenon.Call{Tool: args[1], Args: []byte(args[2])})
	if (err != nil) != neg {
		ts.Fatalf("%s: %v", args[1], err)
	}
	var text []byte
	if err != nil {
		text = []byte(err.Error())
	} else {
		text = server.AppendResult(nil, res)
	}
	ts.Check(os.WriteFile(ts.MkAbs("result"), append(text, '\n'), 0o600))
}

// mask FILE replaces what differs from run to run: ports, times, dates, and
// the picture, which is as its encoder makes it.
func mask(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	text, err := os.ReadFile(file)
	ts.Check(err)
	ts.Check(os.WriteFile(file, []byte(masked(string(text))), 0o600))
}

func masked(text string) string {
	text = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(text, "127.0.0.1:PORT")
	text = regexp.MustCompile(`\(\d[\d.]*(µs|ms|s)\)`).ReplaceAllString(text, "(TIME)")
	text = regexp.MustCompile(`"sha256": ?"[0-9a-f]{64}"`).ReplaceAllString(text, `"sha256": "DIGEST"`)
	text = regexp.MustCompile(`"bytes": \d+`).ReplaceAllString(text, `"bytes": SIZE`)
	return regexp.MustCompile(`"createdAt": ?"[^"]*"`).ReplaceAllString(text, `"createdAt": "DATE"`)
}
