package server_test

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/inflight"
	"github.com/tenon-mcp/tenon/server"
)

// reads is a tool that reads its answer of so many bytes as a source does: in
// pieces, between which others get their turn. Where hold is not nil it stops
// before the last of them until that is closed.
func reads(size int, hold <-chan struct{}) tenon.Tool {
	return tool("reads", func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
		from := inflight.Reader(ctx, strings.NewReader(strings.Repeat("x", size)), -1)
		var read strings.Builder
		for {
			n, err := io.CopyN(&read, from, 32<<10)
			switch {
			case err == io.EOF: //nolint:errorlint // CopyN gives it as it is
				return tenon.Response{Content: []tenon.Content{{Text: []byte(read.String())}}}, nil
			case err != nil:
				return tenon.Response{Execution: tenon.Execution{Reads: tenon.Responded}}, &tenon.Error{Code: tenon.CodeRateLimited, Message: err.Error()}
			}
			if hold != nil && n > 0 && read.Len() > size/2 {
				<-hold
			}
			time.Sleep(time.Millisecond)
		}
	})
}

// What a source reads counts before there is an answer; who finds no room hears
// it after a while, and may try again.
func TestWhatIsReadCountsAgainstTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const budget = 8 << 20
		hold := make(chan struct{})
		s := serve(server.Options{MaxInFlight: 2 * budget, WriteTimeout: 10 * time.Second}, reads(1<<20, hold), echo())
		began := time.Now()
		var clients sync.WaitGroup
		var mu sync.Mutex
		whole, told := 0, 0
		for range 40 {
			clients.Go(func() {
				w := answer(s, post(legacyBody("tools/call", `"name":"reads"`)))
				mu.Lock()
				defer mu.Unlock()
				switch body := w.Body.String(); {
				case w.Body.Len() > 1<<20:
					whole++
				case strings.Contains(body, "too many bytes") && strings.Contains(body, `"retry":"safe"`), w.Code == 503:
					told++
				default:
					t.Errorf("%.300s", body)
				}
			})
		}
		time.Sleep(time.Second)
		if answers, _, _ := s.InFlight(); answers > budget/2+1<<20 || answers < budget/4 {
			t.Errorf("%d bytes are held while they are read, of a share of %d", answers, budget/2)
		}
		if w := answer(s, from("198.51.100.7:1", post(legacyBody("tools/call", `"name":"echo"`)))); !strings.Contains(w.Body.String(), `"result"`) {
			t.Errorf("another caller: %.200s", w.Body)
		}
		time.Sleep(30*time.Second - time.Since(began))
		close(hold)
		clients.Wait()
		if whole < 3 || told == 0 || whole+told != 40 {
			t.Errorf("%d whole, %d told", whole, told)
		}
		if answers, messages, calls := s.InFlight(); answers+messages+calls != 0 {
			t.Errorf("%d and %d bytes, %d places are never given back", answers, messages, calls)
		}
		time.Sleep(time.Minute) // memory is given back
	})
}

// Calls that all hold a part of what there is do not wait for each other: each
// gets its answer, and no time to wait runs out.
func TestReadersDoNotWaitForEachOther(t *testing.T) {
	for name, callers := range map[string]func(i int) string{
		"one caller":   func(int) string { return "192.0.2.1:1" },
		"many callers": func(i int) string { return string(rune('a'+i)) + ".example:1" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(server.Options{MaxInFlight: 4 << 20, WriteTimeout: time.Hour}, reads(900<<10, nil))
				began := time.Now()
				var clients sync.WaitGroup
				var all [20]*httptest.ResponseRecorder
				for i := range all {
					clients.Go(func() {
						all[i] = answer(s, from(callers(i), post(legacyBody("tools/call", `"name":"reads"`))))
					})
				}
				clients.Wait()
				for _, w := range all {
					if w.Body.Len() < 900<<10 {
						t.Errorf("%.300s", w.Body)
					}
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it took %v", took)
				}
				if answers, _, calls := s.InFlight(); answers+calls != 0 {
					t.Errorf("%d bytes, %d places are never given back", answers, calls)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}
