package server_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-mcp/tenon/server"
)

// A state is for the tool that asked: another one that asks under the same key
// does not take the answer.
func TestAStateIsForOneTool(t *testing.T) {
	other := asker()
	other.Name = "other"
	s := serve(server.Options{}, asker(), other)
	state := stateOf(exchange(s, "tools/call", "ask", `"name":"ask"`, forms))
	answered := ada + `,"requestState":"` + state + `"`
	if got := exchange(s, "tools/call", "other", `"name":"other",`+answered, forms); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("another tool: %s", got)
	}
	if got := exchange(s, "tools/call", "ask", `"name":"ask",`+answered, forms); !strings.Contains(got, "Ada") {
		t.Errorf("the tool that asked: %s", got)
	}
}

// A subscription that is over holds no place.
func TestThePlaceOfASubscriptionIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{}, fixtures()...)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			answer(s, post(listenBody("7", `{"toolsListChanged":true}`), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen").WithContext(ctx))
		}()
		synctest.Wait()
		_, during, _ := s.Standing()
		cancel()
		<-ended
		if _, after, _ := s.Standing(); during != 1 || after != 0 {
			t.Errorf("%d places are held by one subscription, %d by none", during, after)
		}
	})
}
