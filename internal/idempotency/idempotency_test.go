package idempotency_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/idempotency"
	"github.com/tenon-mcp/tenon/internal/memstore"
)

const claim = time.Minute

func keys(store tenon.Store) (take func(args string) (idempotency.Key, error), k *idempotency.Keys) {
	k = idempotency.New(store, claim)
	return func(args string) (idempotency.Key, error) {
		return k.Take(context.Background(), &tenon.Call{Tool: "order", Subject: "ann", Args: []byte(args)})
	}, k
}

func must(t *testing.T, take func(string) (idempotency.Key, error), args string) idempotency.Key {
	t.Helper()
	key, err := take(args)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestAKeyIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(memstore.Options{})
		take, k := keys(store)
		another, _ := keys(store) // a replica
		first := must(t, take, `{"n":1,"m":2}`)
		if first.Again || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(first.Value) {
			t.Errorf("%+v", first)
		}
		if err := k.Keep(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]*tenon.Call{
			"another subject":   {Tool: "order", Subject: "bob", Args: []byte(`{"n":1,"m":2}`)},
			"another tool":      {Tool: "cancel", Subject: "ann", Args: []byte(`{"n":1,"m":2}`)},
			"another arguments": {Tool: "order", Subject: "ann", Args: []byte(`{"n":1,"m":3}`)},
		} {
			if key, err := k.Take(t.Context(), c); err != nil || key.Again || key.Value == first.Value {
				t.Errorf("%s: %+v, %v", name, key, err)
			}
		}
		again := must(t, another, ` {"m":2, "n":1}`)
		if !again.Again || again.Value != first.Value {
			t.Errorf("%+v, want that of %+v", again, first)
		}
		if _, err := take(`{"n":1,"m":2}`); !errors.Is(err, idempotency.ErrPending) {
			t.Errorf("while it is under way: %v", err)
		}
		if err := k.Keep(t.Context(), again); err != nil { // unknown once more
			t.Fatal(err)
		}
		time.Sleep(idempotency.Life - time.Second)
		again = must(t, take, `{"n":1,"m":2}`)
		if !again.Again {
			t.Error("within ten minutes of the last time it is sent again")
		}
		if err := k.Drop(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		if key := must(t, take, `{"n":1,"m":2}`); key.Again {
			t.Error("a definite answer ends it")
		}
	})
}

func TestAKeyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		take, k := keys(memstore.New(memstore.Options{}))
		if err := k.Keep(t.Context(), must(t, take, `{}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(idempotency.Life + time.Second)
		if key := must(t, take, `{}`); key.Again {
			t.Error("after ten minutes there is none")
		}
	})
}

// A process that is killed with a key leaves it to the next, when its claim is over.
func TestAClaimEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		take, k := keys(memstore.New(memstore.Options{}))
		first := must(t, take, `{}`)
		if err := k.Keep(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		must(t, take, `{}`)
		time.Sleep(claim + time.Second)
		if key := must(t, take, `{}`); !key.Again || key.Value != first.Value {
			t.Errorf("%+v", key)
		}
	})
}

// TestAsManyEffectsAsIntended holds for any order of calls that are equal: each key is
// in one call at a time, and each effect that is not known has a key of its own.
func TestAsManyEffectsAsIntended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		take, k := keys(memstore.New(memstore.Options{}))
		pending, underWay := map[string]bool{}, []idempotency.Key{}
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				key, err := take(`{"a":1}`)
				claimed := 0
				for _, other := range underWay {
					if other.Value == key.Value {
						t.Fatalf("%s is in two calls", key.Value)
					}
					if other.Again {
						claimed++
					}
				}
				switch {
				case errors.Is(err, idempotency.ErrPending):
					if claimed == 0 || len(pending) > claimed {
						t.Fatalf("%d are kept, %d under way", len(pending), claimed)
					}
					return
				case err != nil:
					t.Fatal(err)
				case key.Again != (len(pending) > claimed) || key.Again != pending[key.Value]:
					t.Fatalf("%+v with %d kept, %d of them under way", key, len(pending), claimed)
				}
				underWay = append(underWay, key)
			},
			"keep": func(t *rapid.T) {
				if len(underWay) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(underWay)-1).Draw(t, "which")
				key := underWay[i]
				underWay = append(underWay[:i], underWay[i+1:]...)
				switch err := k.Keep(context.Background(), key); {
				case errors.Is(err, tenon.ErrStoreFull) && !key.Again && len(pending) == 8:
				case err != nil:
					t.Fatal(err)
				default:
					pending[key.Value] = true
				}
			},
			"drop": func(t *rapid.T) {
				if len(underWay) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(underWay)-1).Draw(t, "which")
				if err := k.Drop(context.Background(), underWay[i]); err != nil {
					t.Fatal(err)
				}
				delete(pending, underWay[i].Value)
				underWay = append(underWay[:i], underWay[i+1:]...)
			},
		})
	})
}
