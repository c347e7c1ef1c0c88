package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// fullAudit is an audit log where files cannot grow beyond 64 KiB. With
// --audit-required no call reaches the upstream then; without, all do, and the log
// says so once.
func fullAudit(ctx context.Context, tenon string) (string, error) {
	const calls = 400 // have more lines than fit
	var told []string
	for _, required := range []bool{true, false} {
		var reached atomic.Int64
		up, err := upstream(ctx, func(w http.ResponseWriter, _ *http.Request) {
			reached.Add(1)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"items":[]}`))
		})
		if err != nil {
			return "", err
		}
		t := &target{}
		if t.folder, err = os.MkdirTemp("", "attacks"); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(t.folder, "openapi.json"), []byte(document("http://"+up, "items")), 0o600); err != nil {
			return "", err
		}
		args := []string{"-c", `ulimit -f 64; exec "$@"`, "bash", tenon, "serve", "--http", "127.0.0.1:0", "--allow-private-host", "127.0.0.1", "--audit", "audit.log", "openapi.json"}
		if required {
			args = append(args, "--audit-required")
		}
		if err := t.start(ctx, "bash", nil, args...); err != nil {
			return "", err
		}
		defer t.stop()
		refusals := 0
		for range calls {
			got, err := t.call(ctx, "items", "{}")
			if err != nil {
				return "", err
			}
			if strings.Contains(got, "requires an audit log") {
				refusals++
			}
		}
		said, made := strings.Count(t.logged(), "the audit log cannot be written"), int(reached.Load())
		if required && refusals == 0 || !required && refusals != 0 || made != calls-refusals || said != 1 {
			return "", fmt.Errorf("required %v: %d calls reached the upstream, %d were refused, said %d times: %.1000s", required, made, refusals, said, t.logged())
		}
		told = append(told, fmt.Sprintf("required %v: %d made, %d refused", required, made, refusals))
	}
	return strings.Join(told, "; "), nil
}
