package server_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/memstore"
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

// What a person said to one replica counts at every other that has the same secret and
// store, and once at all of them together.
func TestTheAnswerOfAPersonCountsOnceAtAllReplicas(t *testing.T) {
	deleted := 0
	destroys := true
	deletes := tool("delete", func(context.Context, *tenon.Call) (tenon.Response, error) {
		deleted++
		return tenon.Response{Content: []tenon.Content{{Text: []byte("deleted")}}}, nil
	})
	deletes.Annotations.Destructive = &destroys
	store := memstore.New(memstore.Options{})
	replica := func() *server.Server {
		return server.New(gateway.New(catalog(deletes), gateway.Options{Store: store}), server.Options{Secret: []byte("shared")})
	}
	state := stateOf(exchange(replica(), "tools/call", "delete", `"name":"delete"`, forms))
	agreed := `"name":"delete","inputResponses":{"tenon/confirmation":{"action":"accept","content":{"confirm":true}}},"requestState":"` + state + `"`
	if got := exchange(replica(), "tools/call", "delete", agreed, forms); !strings.Contains(got, `"deleted"`) || deleted != 1 {
		t.Errorf("another replica: %s", got)
	}
	if got := exchange(replica(), "tools/call", "delete", agreed, forms); !strings.Contains(got, "already used") || deleted != 1 {
		t.Errorf("a third one, again: %s", got)
	}
}
