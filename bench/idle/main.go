// Command idle measures the memory of a tenon with a hundred tools that has
// listed them, made a thousand calls and had nothing to do since, for as long as
// Go takes to notice. It reads /proc and therefore runs on Linux alone.
//
//	idle TENON OUT
//
// It writes one JSON object to OUT and a line for people to standard output.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	tools = 100
	calls = 1000
	rest  = 125 * time.Second // Go collects every two minutes
)

// report is what OUT holds, in megabytes. Resident is what ps shows: the
// process's own memory and those pages of the program file that were read,
// which the system takes back when it needs them.
type report struct {
	BusyMB     float64 `json:"busyMB"` // resident at once after the calls
	OwnMB      float64 `json:"ownMB"`
	ResidentMB float64 `json:"residentMB"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: idle TENON OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "idle:", err)
		os.Exit(1)
	}
}

func run(tenon, out string) error {
	folder, err := os.MkdirTemp("", "idle")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"id":1,"name":"one","tags":["a","b"]}`))
	}))
	defer upstream.Close()
	file := filepath.Join(folder, "hundred.json")
	if err := os.WriteFile(file, document(upstream.URL), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(tenon, "serve", "--allow-private-host", "127.0.0.1", file)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	answers := bufio.NewReaderSize(pipe, 1<<20)
	for i := range 1 + calls {
		fmt.Fprintln(in, message(i))
		line, err := answers.ReadString('\n')
		if err != nil || !strings.Contains(line, `"result"`) || strings.Contains(line, `"isError":true`) {
			return fmt.Errorf("message %d: %w: %.300s", i, err, line)
		}
	}
	var r report
	if r.BusyMB, err = memory(cmd.Process.Pid, "VmRSS"); err != nil {
		return err
	}
	time.Sleep(rest)
	if r.OwnMB, err = memory(cmd.Process.Pid, "RssAnon"); err != nil {
		return err
	}
	if r.ResidentMB, err = memory(cmd.Process.Pid, "VmRSS"); err != nil {
		return err
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		return err
	}
	fmt.Printf("%d tools after %d calls: %.1f MB resident; idle: %.1f MB, %.1f MB of them its own\n", tools, calls, r.BusyMB, r.ResidentMB, r.OwnMB)
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

// message lists the tools first, then calls them in turn.
func message(i int) string {
	method, params := "tools/list", ""
	if i > 0 {
		method, params = "tools/call", fmt.Sprintf(`"name":"getThing%d","arguments":{"id":%d},`, i%tools, i)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		i, method, params)
}

func document(server string) []byte {
	var paths []string
	for i := range tools {
		paths = append(paths, fmt.Sprintf(`"/things%d/{id}":{"get":{"operationId":"getThing%d","summary":"Read a thing of kind %d",`+
			`"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}},{"name":"q","in":"query","schema":{"type":"string"}}],`+
			`"responses":{"200":{"description":"the thing","content":{"application/json":{"schema":{"type":"object","required":["id"],`+
			`"properties":{"id":{"type":"integer"},"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}}}}}}}}}`, i, i, i))
	}
	return fmt.Appendf(nil, `{"openapi":"3.1.0","info":{"title":"things","version":"1"},"servers":[{"url":%q}],"paths":{%s}}`, server, strings.Join(paths, ","))
}

// memory reads a line of /proc/PID/status, in megabytes.
func memory(pid int, line string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), line+":")
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseFloat(kilobytes, 64)
	return n / 1024, err
}
