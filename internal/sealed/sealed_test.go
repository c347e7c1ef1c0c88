package sealed_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/memstore"
	"github.com/tenon-mcp/tenon/internal/sealed"
)

// spy is a store that remembers what was put into it, and fails or hangs.
type spy struct {
	*memstore.Store

	mu    sync.Mutex
	kept  map[string][]byte
	fails error
	hangs bool
	asked int
}

func newSpy() *spy { return &spy{Store: memstore.New(memstore.Options{}), kept: map[string][]byte{}} }

func (s *spy) ready(ctx context.Context) error {
	s.mu.Lock()
	s.asked++
	fails, hangs := s.fails, s.hangs
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return fails
}

func (s *spy) Put(ctx context.Context, key string, value []byte, life time.Duration) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	s.kept[key] = value
	return s.Store.Put(ctx, key, value, life)
}

func (s *spy) Get(ctx context.Context, key string) ([]byte, bool, error) {
	if err := s.ready(ctx); err != nil {
		return nil, false, err
	}
	return s.Store.Get(ctx, key)
}

func (s *spy) GetAll(ctx context.Context, keys []string) ([][]byte, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	return s.Store.GetAll(ctx, keys)
}

func (s *spy) PutIfAbsent(ctx context.Context, key string, value []byte, life time.Duration) (bool, error) {
	if err := s.ready(ctx); err != nil {
		return false, err
	}
	return s.Store.PutIfAbsent(ctx, key, value, life)
}

func of(t *testing.T, s tenon.Store, secret string) *sealed.Cache {
	t.Helper()
	c, err := sealed.New(s, []byte(secret), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func got(t *testing.T, c *sealed.Cache, key string) string {
	t.Helper()
	values, _ := c.Get(t.Context(), key)
	if values[0] == nil {
		return "none"
	}
	return string(values[0])
}

func TestValues(t *testing.T) {
	s := newSpy()
	a, b := of(t, s, "common"), of(t, s, "common")
	large := strings.Repeat("token ", 10_000)
	for key, value := range map[string]string{"a": "token", "b": "", "c": large, "d": strings.Repeat("x", 1023), "e": strings.Repeat("x", 1024)} {
		a.Put(t.Context(), key, []byte(value), time.Minute)
		if v := got(t, b, key); v != value {
			t.Errorf("%s: %.20q of %d bytes", key, v, len(v))
		}
	}
	values, ok := b.Get(t.Context(), "a", "none", "b")
	if !ok || string(values[0]) != "token" || values[1] != nil || values[2] == nil {
		t.Errorf("%q %v", values, ok)
	}
	for key, value := range s.kept {
		if strings.Contains(key+string(value), "token") || len(value) > 5000 {
			t.Errorf("the store has %q with %d bytes", key, len(value))
		}
	}
	a.Delete(t.Context(), "a")
	if v := got(t, b, "a"); v != "none" {
		t.Errorf("what was deleted is %q", v)
	}
	a.Put(t.Context(), "f", make([]byte, 4<<20+1), time.Minute)
	if v := got(t, b, "f"); v != "none" {
		t.Errorf("a value that is too large is kept")
	}
	if !a.Claim(t.Context(), "turn", time.Minute) || b.Claim(t.Context(), "turn", time.Minute) {
		t.Error("a claim is of the first")
	}
	a.Delete(t.Context(), "turn")
	if !b.Claim(t.Context(), "turn", time.Minute) {
		t.Error("a claim that was given back is free")
	}
}

// Who writes to the store without the secret can put nothing in a value's place: no text
// of his own, no other value, no value of another secret, no part of one.
func TestOnlyTheSecretOpens(t *testing.T) {
	s := newSpy()
	c := of(t, s, "common")
	c.Put(t.Context(), "one", []byte("first"), time.Minute)
	var name string
	for name = range s.kept {
	}
	first := s.kept[name]
	of(t, s, "common").Put(t.Context(), "two", []byte("second"), time.Minute)
	of(t, s, "other").Put(t.Context(), "one", []byte("third"), time.Minute)
	if len(s.kept) != 3 {
		t.Fatalf("%d names", len(s.kept))
	}
	delete(s.kept, name)
	texts := [][]byte{nil, {}, []byte("pfirst"), first[:len(first)-1], append(bytes.Clone(first), 0), bytes.Repeat([]byte{0}, 100)}
	for _, text := range s.kept {
		texts = append(texts, text)
	}
	for _, text := range texts {
		if err := s.Store.Put(t.Context(), name, text, time.Minute); err != nil {
			t.Fatal(err)
		}
		if v := got(t, c, "one"); v != "none" {
			t.Errorf("%q is read as %q", text, v)
		}
	}
}

// A store that hangs costs a tenth of a second, and nothing for some seconds then.
func TestAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSpy()
		c := of(t, s, "common")
		c.Put(t.Context(), "k", []byte("v"), time.Hour)
		s.hangs = true
		began := time.Now()
		if _, ok := c.Get(t.Context(), "k"); ok || time.Since(began) != 100*time.Millisecond {
			t.Errorf("%v after %v", ok, time.Since(began))
		}
		asked := s.asked
		began = time.Now()
		c.Put(t.Context(), "k", []byte("w"), time.Hour)
		if first := c.Claim(t.Context(), "turn", time.Hour); !first || s.asked != asked || time.Since(began) != 0 {
			t.Errorf("the store is asked again: %v %v", first, time.Since(began))
		}
		s.hangs = false
		time.Sleep(5 * time.Second)
		if v := got(t, c, "k"); v != "v" {
			t.Errorf("afterwards: %q", v)
		}
	})
}

// Who leaves before the store answers, and a store that is full, are no failures of it.
func TestWhatIsNoFailure(t *testing.T) {
	s := newSpy()
	c := of(t, s, "common")
	s.fails = tenon.ErrStoreFull
	c.Put(t.Context(), "k", []byte("v"), time.Hour)
	s.fails, s.hangs = nil, true
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := c.Get(ctx, "k"); ok {
		t.Error("it is known")
	}
	s.hangs = false
	c.Put(t.Context(), "k", []byte("v"), time.Hour)
	if v := got(t, c, "k"); v != "v" {
		t.Errorf("got %q", v)
	}
	s.fails = errors.New("gone")
	if v := got(t, c, "k"); v != "none" {
		t.Errorf("got %q", v)
	}
}
