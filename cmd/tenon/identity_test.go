package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	askInitialize = `{"jsonrpc":"2.0","id":8,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	askDiscover   = `{"jsonrpc":"2.0","id":9,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
)

// says checks how the server introduces itself to a client of 2026-07-28; texts
// are of serverInfo and instructions.
func (s *session) says(texts ...string) {
	s.t.Helper()
	s.send(askDiscover)
	line := s.expect(s.lines, `"id":9`)
	for _, text := range texts {
		if !strings.Contains(line, text) {
			s.t.Errorf("discover does not say %s: %s", text, line)
		}
	}
}

func called(title, instructions string) string {
	return strings.Replace(shopWith("a"), `"title":"t","version":"1"`, `"title":"`+title+`","version":"1","description":"`+instructions+`"`, 1)
}

// A description that changes what it calls itself is introduced anew, by every
// kind of description.
func TestTheIdentityFollowsAReload(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ spec, file, before, saidBefore string }{
		"an OpenAPI document": {"shop.json", "shop.json", "Before", "Say before."},
		"a schema file":       {"shop.mjs", "shop.mjs", "N", "D"},
		"a function app":      {"app", "app/host.json", "adder", "Adds."},
	} {
		t.Run(name, func(t *testing.T) {
			spec, file := filepath.Join(dir, tt.spec), filepath.Join(dir, tt.file)
			switch tt.spec {
			case "shop.json":
				write(t, file, called(tt.before, tt.saidBefore))
			case "shop.mjs":
				write(t, file, schemaWith("shop", "a"))
			default:
				emitAdder(t, spec)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := serveOnPipes(t, spec)
			s.says(`"title":"`+tt.before+`"`, `"instructions":"`+tt.saidBefore+`"`)
			changed := string(text)
			for _, q := range []string{`'`, `"`} { // the first of each: the worker is called adder, too
				changed = strings.Replace(changed, q+tt.before+q, q+"After"+q, 1)
				changed = strings.Replace(changed, q+tt.saidBefore+q, q+"Say after."+q, 1)
			}
			write(t, file+".new", changed)
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
			s.expect(s.said.all, "has changed: ")
			s.says(`"name":"After","title":"After"`, `"instructions":"Say after."`)
			s.send(askInitialize)
			if line := s.expect(s.lines, `"id":8`); !strings.Contains(line, `"title":"After"`) || !strings.Contains(line, "Say after.") {
				t.Errorf("initialize: %s", line)
			}
		})
	}
}

// emitAdder writes the function app whose worker is adder.
func emitAdder(t *testing.T, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	adder := filepath.Join(dir, "adder") // the test binary is the worker by this name
	if err := os.Symlink(self, adder); err != nil {
		t.Skip("no links here:", err)
	}
	if out, err := exec.CommandContext(t.Context(), adder, "emit", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// Of several descriptions each is introduced as it was served last, also where
// it has changed into what cannot be served; what the operator said stays.
func TestTheIdentityOfSeveralFollowsAReload(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.json"), filepath.Join(dir, "two.json")
	write(t, one, called("One", "first"))
	write(t, two, called("Two", "second"))
	s := serveOnPipes(t, "--policy", "one_a=enforce", "--instructions", "Be kind.", one, two)
	s.says(`"title":"One and Two"`, `"instructions":"Be kind."`)
	write(t, one, strings.Replace(called("Other", "other"), `"a"`, `"b"`, 1))
	s.expect(s.said.all, "one.json has changed and cannot be served")
	write(t, two, called("Second", "second"))
	s.expect(s.said.all, "two.json has changed: ")
	s.says(`"name":"tenon","title":"One and Second"`, `"instructions":"Be kind."`)
}

// SIGHUP does it, too, and over HTTP.
func TestTheIdentityFollowsAHangup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.json")
	write(t, file, called("Before", "Say before."))
	s := serveOverHTTP(t, "--watch=false", "--title", "Mine", file)
	introduces := func(name, instructions string) {
		t.Helper()
		for _, got := range []string{post(s.url, askInitialize), post(s.url, askDiscover, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: server/discover")} {
			if !strings.Contains(got, `"name":"`+name+`","title":"Mine"`) || !strings.Contains(got, `"instructions":"`+instructions+`"`) {
				t.Errorf("want %s and %q, got %s", name, instructions, got)
			}
		}
	}
	introduces("Before", "Say before.")
	write(t, file, called("After", "Say after."))
	s.hup <- syscall.SIGHUP
	(&session{t: t}).expect(s.said.all, "has changed: ")
	introduces("After", "Say after.")
}
