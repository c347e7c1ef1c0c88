package access_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/access"
)

func TestDecisions(t *testing.T) {
	r := shopRules(t)
	r.Allow = append(r.Allow, rule(t, "client:robot", named("list_books")))
	for _, tt := range []struct {
		who  *auth.Caller
		tool string
		want access.Decision
	}{
		{callers("alice"), "list_books", access.Decision{Sees: true}},
		{callers("alice"), "sell_book", access.Decision{Sees: true, Missing: []string{"sell"}}},
		{callers("bob"), "sell_book", access.Decision{Sees: true}},
		{callers("owner"), "sell_book", access.Decision{Sees: true}},
		{callers("alice"), "burn_book", access.Decision{Why: "denied to group:staff by test"}},
		{callers("eve"), "sell_book", access.Decision{Why: "allowed only to key:owner (test), group:staff (test)"}},
		{&auth.Caller{Issuer: "x", ClientID: "robot"}, "list_books", access.Decision{Sees: true}},
		{nil, "list_books", access.Decision{Why: "allowed only to key:owner (test), group:staff (test), client:robot (test)"}},
	} {
		e := gateway.Entry{Name: tt.tool}
		got := r.Decide(tt.who, e, r.Scopes(e))
		if got.Sees != tt.want.Sees || got.Why != tt.want.Why || !slices.Equal(got.Missing, tt.want.Missing) {
			t.Errorf("%+v, %s: %+v, want %+v", tt.who, tt.tool, got, tt.want)
		}
		if r.Sees(tt.who, e) != got.Sees {
			t.Errorf("%+v, %s: it is decided otherwise than it is served", tt.who, tt.tool)
		}
	}
}

func TestWhatNobodySees(t *testing.T) {
	everybody := rule(t, "everybody", named("a", "b"))
	for _, tt := range []struct {
		name  string
		rules access.Rules
		want  []string
	}{
		{"no rules", access.Rules{}, nil},
		{"nothing is allowed but to some", access.Rules{Allow: []access.Rule{rule(t, "key:x", named("a"))}}, []string{"b", "c"}},
		{"denied to everybody", access.Rules{Deny: []access.Rule{everybody}}, []string{"a", "b"}},
		{"denied to some", access.Rules{Deny: []access.Rule{rule(t, "key:x", named("a"))}}, nil},
	} {
		var got []string
		for _, name := range []string{"a", "b", "c"} {
			if tt.rules.SeenByNobody(gateway.Entry{Name: name}) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: nobody sees %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestManySortsOfCallers: catalogs of callers are dropped and made again, while others
// are in use.
func TestManySortsOfCallers(t *testing.T) {
	const sorts = 200
	var rules access.Rules
	for i := range sorts {
		rules.Allow = append(rules.Allow, rule(t, "subject:"+name(i), named("list_books")))
	}
	c := catalog(&rules, "list")
	var working sync.WaitGroup
	for worker := range 8 {
		working.Go(func() {
			for i := range 3 * sorts {
				n := (i*7 + worker*13) % (sorts + 5)
				got := c.For(auth.NewContext(context.Background(), &auth.Caller{Issuer: "x", Subject: name(n)}))
				if seen := got.Find("list_books") != nil; seen != (n < sorts) {
					t.Errorf("%s sees the tool: %v", name(n), seen)
				}
			}
		})
	}
	working.Wait()
}

func name(i int) string { return string(rune('a'+i/26)) + string(rune('a'+i%26)) }

func TestTooManyRules(t *testing.T) {
	var r access.Rules
	for range access.MaxRules + 1 {
		r.Deny = append(r.Deny, access.Rule{})
	}
	if r.Check() == nil {
		t.Error("there are more rules than bits")
	}
	r.Deny = r.Deny[1:]
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestAViewCostsNoMemory(t *testing.T) {
	c := catalog(shopRules(t), "list")
	ctx := auth.NewContext(context.Background(), callers("alice"))
	c.For(ctx)
	if n := testing.AllocsPerRun(100, func() { c.For(ctx) }); n > 0 {
		t.Errorf("%v allocations to find the catalog of a caller", n)
	}
}

func BenchmarkView(b *testing.B) {
	rules := &access.Rules{}
	for i := range 20 {
		who, err := auth.ParseWho("group:" + name(i))
		if err != nil {
			b.Fatal(err)
		}
		rules.Allow = append(rules.Allow, access.Rule{Who: who, Matches: named("list_books")})
	}
	c := catalog(rules, "list")
	ctx := auth.NewContext(context.Background(), callers("alice"))
	b.ReportAllocs()
	for b.Loop() {
		c.For(ctx)
	}
}

func TestMissing(t *testing.T) {
	needed := []string{"a", "b"}
	for _, tt := range []struct {
		who  *auth.Caller
		want []string
	}{
		{nil, needed},
		{&auth.Caller{Key: "k"}, nil},
		{&auth.Caller{Issuer: "x", Scopes: []string{"b"}}, []string{"a"}},
		{&auth.Caller{Issuer: "x", Scopes: []string{"b", "a"}}, nil},
	} {
		if got := access.Missing(tt.who, needed); !slices.Equal(got, tt.want) {
			t.Errorf("%+v lacks %v, want %v", tt.who, got, tt.want)
		}
	}
}

func TestPublic(t *testing.T) {
	r := shopRules(t)
	r.Public = []access.Rule{{Text: "test", Matches: named("list_books", "burn_book")}}
	r.Deny = append(r.Deny, rule(t, "everybody", named("burn_book")))
	r.Allow = append(r.Allow, rule(t, "everybody", named("sell_book")))
	for _, tt := range []struct {
		who  *auth.Caller
		want []string
	}{
		{nil, []string{"list_books"}},
		{callers("eve"), []string{"list_books", "sell_book"}},
	} {
		var got []string
		for _, name := range []string{"list_books", "sell_book", "burn_book"} {
			e := gateway.Entry{Name: name}
			if r.Sees(tt.who, e) {
				got = append(got, name)
			}
			if r.Decide(tt.who, e, nil).Sees != r.Sees(tt.who, e) {
				t.Errorf("%+v, %s: it is decided otherwise than it is served", tt.who, name)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v sees %v, want %v", tt.who, got, tt.want)
		}
	}
}
