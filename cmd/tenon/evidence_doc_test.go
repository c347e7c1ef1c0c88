package main

import (
	"bytes"
	"context"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/bookshop"
)

// TestCommandsOfTheEvidencePage runs the commands of docs/evidence.md in an empty
// directory, with this binary, the bookshop and free ports in place of those of the page.
func TestCommandsOfTheEvidencePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "evidence.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s", name)
		}
	}
	dir := t.TempDir()
	for _, m := range regexp.MustCompile("(?s)```yaml file=(\\S+)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		write(t, filepath.Join(dir, m[1]), m[2])
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "tenon")); err != nil { // testscript makes it the command
		t.Fatal(err)
	}
	script := "set -e\n"
	commands := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(commands) != 6 {
		t.Fatalf("%d commands, not six", len(commands))
	}
	for _, m := range commands {
		script += m[1] + "echo done\n"
	}
	shop := httptest.NewServer(bookshop.New(bookshop.Options{}))
	defer shop.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, free, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	script = strings.NewReplacer("127.0.0.1:8080", strings.TrimPrefix(shop.URL, "http://"), "8443", free).Replace(script)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sh := exec.CommandContext(ctx, "sh", "-c", script)
	sh.Dir, sh.WaitDelay = dir, time.Second
	sh.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	var out, said bytes.Buffer
	sh.Stdout, sh.Stderr = &out, &said
	if err := sh.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "server.log"))
		t.Fatalf("after %d commands: %v\n%s%s%s", strings.Count(out.String(), "done\n"), err, out.String(), said.String(), log)
	}
	_, table, _ := strings.Cut(string(page), "    ID  ")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines("    ID  " + table) {
		row := strings.TrimSpace(line)
		row = strings.TrimSpace(strings.TrimSuffix(row, "2026-11-23")) // the day of the page
		if !strings.Contains(out.String(), row) {
			t.Errorf("never printed: %s\n%s", row, out.String())
		}
	}
	for _, want := range []string{"2 places differ, 2 of them known", "forgotten: 0 lines of shop.ndjson", "1 writer counted this"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("never printed: %s\n%s", want, out.String())
		}
	}
	one, err := os.ReadFile(filepath.Join(dir, "shop.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if all, err := os.ReadFile(filepath.Join(dir, "all.ndjson")); err != nil || !bytes.Equal(all, one) {
		t.Errorf("merged twice it is\n%s, %v\nand was\n%s", all, err, one)
	}
}
