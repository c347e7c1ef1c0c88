package tenontest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
)

// StateOptions say how a Store can be checked.
type StateOptions struct {
	// Around runs one check; nil: as it is. With synctest.Test it has a clock
	// of its own.
	Around func(t *testing.T, check func(*testing.T))
	// Wait lets more than a minute pass: time.Sleep where Around is
	// synctest.Test. Nil: expiry is not checked.
	Wait func(time.Duration)
	// Bounded returns an empty Store that holds at most so many keys and bytes
	// of keys and values. Nil: the Store has bounds that nobody can set.
	Bounded func(t *testing.T, keys, bytes int) tenon.Store
}

// Store checks what every Store must do: each check asks open for an empty one
// and closes it. Run it with the race detector.
func Store(t *testing.T, open func(t *testing.T) tenon.Store, o StateOptions) {
	t.Helper()
	checks := map[string]func(*stateCheck){
		"what was put is got, byte for byte":    putAndGet,
		"a put replaces what stood there":       putReplaces,
		"PutNew leaves what lives alone":        putNewKeeps,
		"what was taken is gone":                takeRemoves,
		"an entry of no bytes is an entry":      emptyValue,
		"Add counts":                            addCounts,
		"Add refuses what is no number":         addRefuses,
		"several numbers are added to at once":  addsSeveral,
		"of many that take, one gets it":        takeOnce,
		"of many that put new, one succeeds":    putNewOnce,
		"of many that add, none is lost":        addAll,
		"a closed state answers nothing":        closed,
		"a context that ended is no panic":      ended,
		"keys may be long and of any character": oddKeys,
		"several values are got at once":        getsSeveral,
		"an announcement is heard":              announces,
	}
	if o.Wait != nil {
		checks["an entry ends when its life does"] = expires
		checks["a put begins a life, an Add does not"] = renews
	}
	if o.Bounded != nil {
		checks["a full state refuses and keeps what it has"] = full
	}
	if o.Bounded != nil && o.Wait != nil {
		checks["expired entries free capacity"] = capacity
	}
	around := o.Around
	if around == nil {
		around = func(t *testing.T, check func(*testing.T)) { check(t) }
	}
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			around(t, func(t *testing.T) {
				s := open(t)
				check(&stateCheck{T: t, s: s, o: o, ctx: t.Context()})
				_ = s.Close() // a check may have closed it
			})
		})
	}
}

// stateCheck is one check under way.
type stateCheck struct {
	*testing.T

	s   tenon.Store
	o   StateOptions
	ctx context.Context //nolint:containedctx // of one check, which it does not outlive
}

const life = time.Minute

func (c *stateCheck) put(key, value string) {
	c.Helper()
	if err := c.s.Put(c.ctx, key, []byte(value), life); err != nil {
		c.Fatalf("Put %q: %v", key, err)
	}
}

func (c *stateCheck) wants(key, value string) {
	c.Helper()
	got, ok, err := c.s.Get(c.ctx, key)
	if err != nil || !ok || string(got) != value {
		c.Fatalf("Get %q: %q, %v, %v; want %q", key, got, ok, err, value)
	}
}

func (c *stateCheck) wantsNone(key string) {
	c.Helper()
	got, ok, err := c.s.Get(c.ctx, key)
	if err != nil || ok || len(got) > 0 {
		c.Fatalf("Get %q: %q, %v, %v; want nothing", key, got, ok, err)
	}
}

func putAndGet(c *stateCheck) {
	c.wantsNone("k")
	value := string([]byte{0, 0xff, '"', '\n'}) + strings.Repeat("long", 10_000)
	c.put("k", value)
	c.wants("k", value)
	c.wants("k", value)
	c.wantsNone("K")
}

func putReplaces(c *stateCheck) {
	c.put("k", "first, and longer")
	c.put("k", "second")
	c.wants("k", "second")
}

func putNewKeeps(c *stateCheck) {
	for i, want := range []bool{true, false} {
		ok, err := c.s.PutIfAbsent(c.ctx, "k", fmt.Append(nil, i), life)
		if err != nil || ok != want {
			c.Fatalf("PutNew: %v, %v; want %v", ok, err, want)
		}
	}
	c.wants("k", "0")
}

func takeRemoves(c *stateCheck) {
	c.put("k", "v")
	got, ok, err := c.s.GetAndDelete(c.ctx, "k")
	if err != nil || !ok || string(got) != "v" {
		c.Fatalf("Take: %q, %v, %v", got, ok, err)
	}
	c.wantsNone("k")
	if got, ok, err := c.s.GetAndDelete(c.ctx, "k"); err != nil || ok || len(got) > 0 {
		c.Fatalf("a second Take: %q, %v, %v; want nothing", got, ok, err)
	}
	if ok, err := c.s.PutIfAbsent(c.ctx, "k", []byte("again"), life); err != nil || !ok {
		c.Fatalf("PutNew after Take: %v, %v; want true", ok, err)
	}
}

func emptyValue(c *stateCheck) {
	c.put("k", "")
	c.wants("k", "")
	if ok, err := c.s.PutIfAbsent(c.ctx, "k", nil, life); err != nil || ok {
		c.Fatalf("PutNew over an empty value: %v, %v; want false", ok, err)
	}
}

func addCounts(c *stateCheck) {
	for _, step := range []struct{ delta, sum int64 }{{2, 2}, {-5, -3}, {0, -3}, {1 << 60, 1<<60 - 3}} {
		sum, err := c.s.Increment(c.ctx, "n", step.delta, life)
		if err != nil || sum != step.sum {
			c.Fatalf("Add %d: %d, %v; want %d", step.delta, sum, err, step.sum)
		}
	}
	c.wants("n", fmt.Sprint(int64(1<<60-3)))
}

// addsSeveral is for stores that can.
func addsSeveral(c *stateCheck) {
	many, ok := c.s.(tenon.Adder)
	if !ok {
		return
	}
	add := func(key string, n int64) tenon.Addition { return tenon.Addition{Key: key, N: n, Life: life} }
	c.put("text", "many")
	for _, step := range []struct {
		all  []tenon.Addition
		sums []int64
	}{
		{[]tenon.Addition{add("n", 1), add("m", -2), add("n", 3), add("o", 0)}, []int64{1, -2, 4, 0}},
		{[]tenon.Addition{add("m", 5)}, []int64{3}},
		{nil, []int64{}},
	} {
		sums, err := many.IncrementAll(c.ctx, step.all)
		if err != nil || !slices.Equal(sums, step.sums) {
			c.Fatalf("IncrementAll %v: %v, %v; want %v", step.all, sums, err, step.sums)
		}
	}
	c.wants("n", "4")
	if sums, err := many.IncrementAll(c.ctx, []tenon.Addition{add("text", 1)}); err == nil {
		c.Fatalf("IncrementAll of a text: %v, no error", sums)
	}
}

func addRefuses(c *stateCheck) {
	c.put("n", "many")
	if sum, err := c.s.Increment(c.ctx, "n", 1, life); err == nil {
		c.Fatalf("Add to a text: %d, no error", sum)
	}
	c.wants("n", "many")
}

// crowd is how many try at once.
const crowd = 32

// atOnce runs f in many goroutines and counts those that report true.
func (c *stateCheck) atOnce(f func() (bool, error)) int {
	c.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	won := 0
	for range crowd {
		wg.Go(func() {
			ok, err := f()
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				c.Error(err)
			}
			if ok {
				won++
			}
		})
	}
	wg.Wait()
	return won
}

func takeOnce(c *stateCheck) {
	c.put("k", "v")
	if n := c.atOnce(func() (bool, error) {
		_, ok, err := c.s.GetAndDelete(c.ctx, "k")
		return ok, err
	}); n != 1 {
		c.Fatalf("%d got it", n)
	}
}

func putNewOnce(c *stateCheck) {
	if n := c.atOnce(func() (bool, error) { return c.s.PutIfAbsent(c.ctx, "k", []byte("v"), life) }); n != 1 {
		c.Fatalf("%d succeeded", n)
	}
}

func addAll(c *stateCheck) {
	c.atOnce(func() (bool, error) {
		_, err := c.s.Increment(c.ctx, "n", 1, life)
		return true, err
	})
	c.wants("n", fmt.Sprint(crowd))
}

func closed(c *stateCheck) {
	c.put("k", "v")
	if err := c.s.Close(); err != nil {
		c.Fatalf("Close: %v", err)
	}
	if _, ok, err := c.s.Get(c.ctx, "k"); err == nil || ok {
		c.Errorf("Get: %v, %v; want an error", ok, err)
	}
	if err := c.s.Put(c.ctx, "k", []byte("v"), life); err == nil {
		c.Error("Put: no error")
	}
}

func ended(c *stateCheck) {
	ctx, cancel := context.WithCancel(c.ctx)
	cancel()
	_ = c.s.Put(ctx, "k", []byte("v"), life) // may work or not
	_, _, _ = c.s.Get(ctx, "k")
	c.put("k", "after")
	c.wants("k", "after")
}

func oddKeys(c *stateCheck) {
	keys := []string{"", "a:b", "a b", "a\nb", "{a}", "ключ", string(bytes.Repeat([]byte{0xff}, 300))}
	for i, k := range keys {
		c.put(k, fmt.Sprint(i))
	}
	for i, k := range keys {
		c.wants(k, fmt.Sprint(i))
	}
}

func expires(c *stateCheck) {
	c.put("k", "v")
	c.o.Wait(life - time.Second)
	c.wants("k", "v")
	c.o.Wait(2 * time.Second)
	c.wantsNone("k")
	if _, ok, err := c.s.GetAndDelete(c.ctx, "k"); err != nil || ok {
		c.Errorf("Take: %v, %v; want nothing", ok, err)
	}
	if ok, err := c.s.PutIfAbsent(c.ctx, "k", []byte("new"), life); err != nil || !ok {
		c.Errorf("PutNew: %v, %v; want true", ok, err)
	}
	c.wants("k", "new")
}

func renews(c *stateCheck) {
	c.put("k", "v")
	_, _ = c.s.Increment(c.ctx, "n", 1, life)
	c.o.Wait(life / 2)
	c.put("k", "w")
	if sum, err := c.s.Increment(c.ctx, "n", 1, life); err != nil || sum != 2 {
		c.Fatalf("Add: %d, %v", sum, err)
	}
	c.o.Wait(life/2 + time.Second)
	c.wants("k", "w")
	c.wantsNone("n")
	if sum, err := c.s.Increment(c.ctx, "n", 1, life); err != nil || sum != 1 {
		c.Fatalf("Add after the end: %d, %v; want 1", sum, err)
	}
}

func full(c *stateCheck) {
	for what, s := range map[string]tenon.Store{"keys": c.o.Bounded(c.T, 2, 1000), "bytes": c.o.Bounded(c.T, 100, 10)} {
		b := stateCheck{T: c.T, s: s, o: c.o, ctx: c.ctx}
		b.put("1", "aaaa")
		b.put("2", "bbbb")
		if err := s.Put(c.ctx, "3", []byte("cccc"), life); !errors.Is(err, tenon.ErrStoreFull) {
			c.Errorf("%s: Put: %v; want ErrStateFull", what, err)
		}
		if ok, err := s.PutIfAbsent(c.ctx, "3", []byte("cccc"), life); ok || !errors.Is(err, tenon.ErrStoreFull) {
			c.Errorf("%s: PutNew: %v, %v; want ErrStateFull", what, ok, err)
		}
		if _, err := s.Increment(c.ctx, "3", 1000, life); !errors.Is(err, tenon.ErrStoreFull) {
			c.Errorf("%s: Add: %v; want ErrStateFull", what, err)
		}
		b.wantsNone("3")
		b.wants("1", "aaaa")
		b.put("2", "BBBB")
		b.wants("2", "BBBB")
		if _, ok, err := s.GetAndDelete(c.ctx, "1"); err != nil || !ok {
			c.Errorf("%s: Take: %v, %v", what, ok, err)
		}
		b.put("3", "cccc")
		_ = s.Close() // nothing is left to lose
	}
}

func capacity(c *stateCheck) {
	b := stateCheck{T: c.T, s: c.o.Bounded(c.T, 1, 1000), o: c.o, ctx: c.ctx}
	b.put("1", "a")
	c.o.Wait(life + time.Second)
	b.put("2", "b")
	b.wants("2", "b")
	b.wantsNone("1")
	_ = b.s.Close() // nothing is left to lose
}
