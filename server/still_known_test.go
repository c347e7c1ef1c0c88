package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// A stream lives as long as a request with its credential would be served: a token
// expires, a key is taken back or becomes somebody else's.
func TestStreamsEndWithTheirCredential(t *testing.T) {
	for _, kind := range []struct {
		name string
		open func(session string) *http.Request
		last string // what a stream that the server ends has at its end
	}{
		{"a subscription", func(string) *http.Request {
			return post(listenBody("7", `{"toolsListChanged":true}`), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")
		}, `"id":7,"result":{`},
		{"a standing stream", func(session string) *http.Request {
			r := post("", session)
			r.Method = http.MethodGet
			return r
		}, ""},
	} {
		for _, tt := range []struct {
			name string
			now  string // who the credential names after a minute and a half; empty: nobody
			ends bool
		}{{"stays good", "ann", false}, {"is nobody's any more", "", true}, {"is somebody else's", "bob", true}} {
			t.Run(kind.name+" whose credential "+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var names atomic.Pointer[string]
					ann := "ann"
					names.Store(&ann)
					g := gateway.New(catalog(fixtures()...), gateway.Options{})
					s := server.New(g, server.Options{Authenticate: func(r *http.Request) (context.Context, string, error) {
						if who := *names.Load(); who != "" {
							return r.Context(), who, nil
						}
						return nil, "", errors.New("the token has expired")
					}})
					ctx, leave := context.WithCancel(t.Context())
					r, w := kind.open(opened(s)).WithContext(ctx), httptest.NewRecorder()
					var client sync.WaitGroup
					client.Go(func() { s.ServeHTTP(w, r) })
					time.Sleep(90 * time.Second)
					if _, _, streams := s.Standing(); kind.last == "" && streams != 1 {
						t.Fatalf("%d streams are open", streams)
					}
					names.Store(&tt.now)
					time.Sleep(time.Minute)
					synctest.Wait()
					before := w.Body.String()
					g.Swap(catalog(fixtures()...))
					synctest.Wait()
					if told := strings.Contains(w.Body.String()[len(before):], "list_changed"); told == tt.ends {
						t.Errorf("it hears of changes: %v", told)
					}
					if tt.ends && !strings.Contains(before, kind.last) {
						t.Errorf("it does not end with a result: %s", before)
					}
					leave()
					client.Wait()
				})
			})
		}
	}
}
