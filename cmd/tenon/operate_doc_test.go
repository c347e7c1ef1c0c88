package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestCommandsOfTheOperatorsPage runs the commands of docs/operate.md in an empty
// directory, with this binary and free ports in place of those of the page.
func TestCommandsOfTheOperatorsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operate.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sh", "curl", "openssl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s", name)
		}
	}
	dir := t.TempDir()
	for _, m := range regexp.MustCompile("(?s)```json file=(\\S+)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
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
	if len(commands) != 10 {
		t.Fatalf("%d commands, not ten", len(commands))
	}
	for _, m := range commands {
		script += m[1] + "echo done\n"
	}
	for _, port := range []string{"8443", "9464"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, free, _ := net.SplitHostPort(l.Addr().String())
		_ = l.Close()
		script = strings.ReplaceAll(script, port, free)
	}
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
	for _, want := range []string{"listPets", "tenon.yaml: 1 source", "\nok\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("never printed: %s\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), `"name":"deletePet"`) {
		t.Error("Alice sees deletePet")
	}
	if n := strings.Count(out.String(), "done\n"); n != 10 {
		t.Errorf("%d commands ended", n)
	}
}
