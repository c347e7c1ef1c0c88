package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Limits of a config are read again while it is served, by a signal and by watching
// it. What was counted stays counted, and a config that cannot be used leaves the
// limits before in force.
func TestLimitsOfAConfigAreReadAgain(t *testing.T) {
	for _, watch := range []string{"true", "false"} {
		t.Run("watch="+watch, func(t *testing.T) {
			w := openWorkshop(t)
			close(w.end)
			file, shop := filepath.Join(t.TempDir(), "tenon.yaml"), w.description(t)
			config := func(limit string) {
				write(t, file, fmt.Sprintf("confirm: off\nallow-private-host: [%s]\nsources: {shop: %s}\nlimit: {%s}\n", strings.TrimPrefix(w.url, "http://"), shop, limit))
			}
			config("everybody: day 2")
			s := serveOverHTTP(t, "--watch="+watch, "--config", file)
			made := func() (n int) {
				for range 10 {
					for _, call := range endpointsOfAServer(s.url) {
						answer := call()
						switch {
						case strings.Contains(answer, `"made":true`):
							n++
						case !strings.Contains(answer, "rate_limited") && !strings.Contains(answer, `"retry_after":`):
							t.Fatal(answer)
						default:
							return n
						}
					}
				}
				return n
			}
			if n := made(); n != 2 {
				t.Errorf("%d calls at first", n)
			}
			again := func(limit, want string) {
				t.Helper()
				config(limit)
				if watch == "false" {
					s.hup <- syscall.SIGHUP
				}
				(&session{t: t}).expect(s.said.all, want)
			}
			again("everybody: day 5", file+" has changed: limit is in force")
			if n := made(); n != 3 {
				t.Errorf("%d more calls", n)
			}
			again("everybody: day 100, everybody ordr: day 3", "cannot be used as it is now; what was read before stays in force: "+file+":4: --limit everybody ordr=day 3: no tool has such a name")
			if n := made(); n != 0 {
				t.Errorf("%d calls by a config that is wrong", n)
			}
			again("everybody: days 100", `tenon.yaml:4: limit: "days" is none of rate`)
			if n := made(); n != 0 {
				t.Errorf("%d calls by a config that cannot be read", n)
			}
		})
	}
}
