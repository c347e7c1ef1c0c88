package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// refused is a server with keys, under a flood of requests with a wrong one, and then
// some without one, for foreign pages and sessions, and a too large one. Each kind is in
// the audit log, of a flood so many lines as are bounded and the number of the rest.
func refused(ctx context.Context, tenon string) (string, error) {
	up, err := upstream(ctx, itemsOf(`{"items":[]}`))
	if err != nil {
		return "", err
	}
	const key = "a-good-key-of-thirty-two-characters"
	t, err := serveAs(ctx, tenon, []string{"KEY=" + key}, document("http://"+up, "items"), "--api-key", "ops=env:KEY", "--audit", "audit.log", "--max-message-bytes", "100000")
	if err != nil {
		return "", err
	}
	defer t.stop()
	list, good := message("tools/list", ""), "Authorization: Bearer "+key
	expect := func(want, body string, headers ...string) error {
		got, err := t.post(ctx, body, headers...)
		if err != nil || !strings.Contains(got, want) {
			return fmt.Errorf("no %q: got %.300s %w", want, got, err)
		}
		return nil
	}
	const flood = 3000
	err = errors.Join(
		together(8, func(int) error {
			for range flood / 8 {
				if err := expect("missing or wrong", list, "Authorization: Bearer "+secret); err != nil {
					return err
				}
			}
			return nil
		}),
		expect("missing or wrong", list),
		expect("there is no such session", list, good, "Mcp-Session-Id: 0123456789abcdef"),
		expect("are not served", list, good, "Origin: https://evil.example"),
		expect("larger than", message("tools/list", `"x":"`+strings.Repeat("x", 200_000)+`"`), good),
		expect("items", message("tools/call", `"name":"items","arguments":{}`), good),
	)
	if err != nil {
		return "", err
	}
	_ = t.cmd.Process.Signal(os.Interrupt)
	_ = t.cmd.Wait()
	text, err := os.ReadFile(filepath.Join(t.folder, "audit.log"))
	if err != nil {
		return "", err
	}
	if bytes.Contains(text, []byte(key)) || bytes.Contains(text, []byte(secret)) {
		return "", errors.New("a key is in the audit log")
	}
	lines, left := map[string]int{}, 0
	for line := range bytes.Lines(text) {
		var m struct {
			Status     int
			Tool       string
			NotWritten int `json:"not_written"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return "", fmt.Errorf("a line of the audit log: %.300s %w", line, err)
		}
		if left += m.NotWritten; m.NotWritten == 0 {
			lines[fmt.Sprint(m.Status, m.Tool)]++
		}
	}
	const windows = 4 // of a minute, where the machine is slow
	if n := lines["401"]; n < 1 || n > 60*windows || n+left != flood+1 || lines["403"] != 1 || lines["404"] != 1 || lines["413"] != 1 || lines["0items"] != 1 {
		return "", fmt.Errorf("lines %v and %d without one", lines, left)
	}
	return fmt.Sprintf("%d refused, %d with a line of their own, %d KB", flood+4, flood+4-left, len(text)>>10), nil
}
