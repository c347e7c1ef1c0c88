package limit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/limit"
	"github.com/tenon-mcp/tenon/internal/memstore"
)

// catalog has the tools a, b of source one, and c of source two.
func catalog() *gateway.Catalog {
	tool := func(name string) tenon.Tool {
		return tenon.Tool{Name: name, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) { return tenon.Response{}, nil }}
	}
	return gateway.Build([]gateway.Mount{
		{Name: "one", Features: tenon.Features{Tools: []tenon.Tool{tool("a"), tool("b")}}}, {Name: "two", Features: tenon.Features{Tools: []tenon.Tool{tool("c")}}},
	}, gateway.BuildOptions{})
}

func rulesOf(t testing.TB, texts ...string) (all []limit.Rule) {
	for _, text := range texts {
		r, err := limit.Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		all = append(all, r)
	}
	return all
}

// caller calls tools of a limiter.
type caller struct {
	t  testing.TB
	l  *limit.Limiter
	c  *gateway.Catalog
	as *auth.Caller
}

func newCaller(t testing.TB, o limit.Options, texts ...string) caller {
	c := caller{t, limit.New(o), catalog(), &auth.Caller{Key: "alice"}}
	c.l.Set(rulesOf(t, texts...))
	return c
}

func (c caller) key(name string) caller { c.as = &auth.Caller{Key: name}; return c }

func (c caller) attempt(tool string) gateway.Attempt {
	if tool == "" {
		return gateway.Attempt{}
	}
	return gateway.Attempt{Call: &tenon.Call{Tool: tool}, Tool: c.c.Find(tool)}
}

func (c caller) begin(a gateway.Attempt) (leave func(), wait time.Duration) {
	ctx := context.Background()
	if c.as != nil {
		ctx = auth.NewContext(ctx, c.as)
	}
	leave, err := c.l.Admit(ctx, a)
	if err == nil {
		if leave == nil {
			leave = func() {}
		}
		return leave, 0
	}
	known, ok := errors.AsType[*tenon.Error](err)
	if !ok || known.RetryAfter <= 0 || known.Message == "" || leave != nil {
		c.t.Fatalf("%v", err)
	}
	return nil, known.RetryAfter
}

// call returns how long the call has to wait; 0: it was made.
func (c caller) call(tool string) time.Duration {
	leave, wait := c.begin(c.attempt(tool))
	if wait == 0 {
		leave()
	}
	return wait
}

// calls makes calls until one is refused.
func (c caller) calls(tool string) (n int, wait time.Duration) {
	for ; n < 10_000; n++ {
		if wait = c.call(tool); wait > 0 {
			return n, wait
		}
	}
	c.t.Fatal("nothing is refused")
	return 0, 0
}

// counting are the ways to count.
var counting = map[string]func() limit.Options{
	"memory": func() limit.Options { return limit.Options{} },
	"a store that adds one by one": func() limit.Options {
		return limit.Options{Store: struct{ tenon.Store }{memstore.New(memstore.Options{})}}
	},
	"store": func() limit.Options { return limit.Options{Store: memstore.New(memstore.Options{})} },
}

// A burst is there at once, then calls come at the rate; whoever waits as long as they
// are told has their call, and not much earlier.
func TestRate(t *testing.T) {
	for name, options := range counting {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCaller(t, options(), "everybody=rate 10/m burst 20")
				if n, _ := c.calls("a"); n != 20 {
					t.Errorf("%d at once", n)
				}
				began, made := time.Now(), 20
				for time.Since(began) < time.Hour {
					wait := c.call("a")
					if wait == 0 {
						made++
						continue
					}
					time.Sleep(wait - wait/10)
					if c.call("a") == 0 {
						t.Fatal("a call was made before its time")
					}
					time.Sleep(wait / 10)
					if time.Sleep(10 * time.Nanosecond); c.call("a") != 0 {
						t.Fatal("it waited as long as it was told")
					}
					made++
				}
				if made < 600-600/20 || made > 620+600/20 {
					t.Errorf("%d calls in an hour", made)
				}
				time.Sleep(5 * time.Minute)
				if n, _ := c.calls("a"); n != 20 {
					t.Errorf("%d at once after a pause", n)
				}
			})
		})
	}
}

// However calls come, no span of time has more than the burst and what the rate makes
// of it.
func TestRateHoldsInEverySpan(t *testing.T) {
	for name, options := range counting {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCaller(t, options(), "everybody=rate 5/s burst 3")
				var made []time.Time
				for i := range 4000 {
					if c.call("a") == 0 {
						made = append(made, time.Now())
					}
					if i%9 == 0 { // several at once, some of them where a window ends
						time.Sleep(time.Duration(i*7919%997) * time.Millisecond)
					}
				}
				for i := range made {
					for j := i; j < min(len(made), i+50); j++ {
						if span := made[j].Sub(made[i]); float64(j-i+1) > 3+5*span.Seconds()+1 {
							t.Fatalf("%d calls in %v", j-i+1, span)
						}
					}
				}
			})
		})
	}
}

// A quota ends at midnight UTC.
func TestDay(t *testing.T) {
	for name, options := range counting {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Hour)
				c := newCaller(t, options(), "everybody=day 5")
				n, wait := c.calls("a")
				if n != 5 || wait != 23*time.Hour {
					t.Errorf("%d a day, and again after %v", n, wait)
				}
				time.Sleep(wait - time.Second)
				if c.call("a") == 0 {
					t.Error("a call was made before midnight")
				}
				time.Sleep(time.Second)
				if n, wait := c.calls("a"); n != 5 || wait != 24*time.Hour {
					t.Errorf("%d on the next day, and again after %v", n, wait)
				}
			})
		})
	}
}

// A call that one limit refuses counts against none: neither the others of the call nor
// the one that refuses.
func TestWhatIsRefusedCountsNowhere(t *testing.T) {
	for name, options := range counting {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCaller(t, options(), "everybody=day 3", "everybody a=rate 1/h burst 1", "everybody b=concurrent 1")
				if c.call("a") != 0 {
					t.Fatal("the first is refused")
				}
				for range 50 {
					if c.call("a") == 0 {
						t.Fatal("the second is made")
					}
				}
				leave, _ := c.begin(c.attempt("b"))
				for range 50 {
					if c.call("b") != time.Second {
						t.Fatal("two at a time")
					}
				}
				leave()
				if n, _ := c.calls("c"); n != 1 {
					t.Errorf("%d are left of the day", n)
				}
			})
		})
	}
}

// Who says most exactly who a caller is counts, and of equals what is more; for each
// kind of limit alone. Callers do not count for each other, but in what is shared.
func TestWhichRuleCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCaller(t, limit.Options{},
			"everybody=day 3 concurrent 1 sessions 1", "key:ops=day none", "group:a=day 4", "group:b=day 7 sessions 4 tasks 2", "client:x=day 2 sessions none",
			"key:zoe=none", "everybody b=day 1", "everybody c=day 5 shared", "key:alice c=day 2 shared", "group:none=day 1", "group:c=day 2")
		who := func(a *auth.Caller) caller { d := c; d.as = a; return d }
		both, client := &auth.Caller{Issuer: "i", Subject: "s", Groups: []string{"a", "b", "c"}}, &auth.Caller{Issuer: "i", Subject: "t", ClientID: "x", Groups: []string{"b"}}
		for _, x := range []struct {
			as   *auth.Caller
			tool string
			n    int
		}{
			{&auth.Caller{Key: "alice"}, "a", 3},
			{&auth.Caller{Key: "bob"}, "a", 3},
			{both, "a", 7},
			{client, "a", 2},
			{nil, "a", 3},
			{&auth.Caller{Key: "carol"}, "b", 1},
			{&auth.Caller{Key: "carol"}, "a", 2},
			{&auth.Caller{Key: "ops"}, "c", 5},     // what all have together
			{&auth.Caller{Key: "zoe"}, "c", 0},     // is used up
			{&auth.Caller{Key: "alice"}, "", 0},    // resources are calls as well
			{&auth.Caller{Key: "alice"}, "no", 0},  // and tools that do not exist
			{&auth.Caller{Key: "dave"}, "none", 3}, // so many that a guess is
		} {
			if n, _ := who(x.as).calls(x.tool); n != x.n {
				t.Errorf("%+v: %d calls of %q, not %d", x.as, n, x.tool, x.n)
			}
		}
		for range 100 {
			if who(&auth.Caller{Key: "ops"}).call("a") != 0 {
				t.Fatal("day none is a limit")
			}
		}
		leave, _ := who(&auth.Caller{Key: "ops"}).begin(c.attempt("a"))
		if who(&auth.Caller{Key: "ops"}).call("a") == 0 || who(&auth.Caller{Key: "zoe"}).call("a") != 0 {
			t.Error("day none takes away calls at a time, or none does not")
		}
		leave()
		allow := func(a *auth.Caller) limit.Allowance { return c.l.Allowance(auth.NewContext(t.Context(), a)) }
		if got, want := allow(both), (limit.Allowance{Sessions: 4, Tasks: 2}); got != want {
			t.Error(got)
		}
		if got, want := allow(client), (limit.Allowance{Sessions: limit.Unlimited, Tasks: 2}); got != want {
			t.Error(got)
		}
	})
}

// A rule about tools is about those alone, by their names and those of their source.
func TestRulesAboutTools(t *testing.T) {
	c := newCaller(t, limit.Options{}, "everybody one/*=day 2", "everybody c=day 1")
	if c.call("a") != 0 || c.call("b") != 0 || c.call("a") == 0 || c.call("b") == 0 {
		t.Error("the tools of a source are not counted together")
	}
	if c.call("c") != 0 || c.call("c") == 0 {
		t.Error("a tool is not counted")
	}
	if c.call("") != 0 || c.call("no") != 0 {
		t.Error("a resource is a tool")
	}
}

// A further part is no new call, but has a place among those under way.
func TestPartsAreNoCalls(t *testing.T) {
	c := newCaller(t, limit.Options{}, "everybody=day 1 rate 1/h concurrent 1")
	if c.call("a") != 0 {
		t.Fatal("the first is refused")
	}
	part := c.attempt("a")
	part.Part = true
	for range 100 {
		leave, wait := c.begin(part)
		if wait != 0 {
			t.Fatal("a part is refused")
		}
		if _, wait := c.begin(part); wait != time.Second {
			t.Fatal("two parts at a time")
		}
		leave()
	}
	if c.call("a") == 0 {
		t.Error("the second call was made")
	}
}

// Counts stay where rules change, also while the store says who is refused.
func TestCountsOutliveRules(t *testing.T) {
	for name, options := range counting {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCaller(t, options(), "everybody=day 3", "everybody a=concurrent 1")
				leave, _ := c.begin(c.attempt("a"))
				c.calls("b")
				c.l.Set(rulesOf(t, "key:alice=day 5", "everybody a=concurrent 2"))
				if n, _ := c.calls("b"); n != 2 {
					t.Errorf("%d more of a day", n)
				}
				c.l.Set(rulesOf(t, "key:alice=day 100", "everybody a=concurrent 2"))
				second, wait := c.begin(c.attempt("a"))
				if wait != 0 || c.call("a") != time.Second {
					t.Error("places are counted anew")
				}
				leave()
				second()
				c.l.Set(nil)
				if c.call("a") != 0 || c.call("b") != 0 {
					t.Error("there is a limit without rules")
				}
			})
		})
	}
}

// store is a Store that counts round trips, and fails on demand.
type store struct {
	tenon.Store

	trips atomic.Int64
	err   atomic.Pointer[error]
}

func (s *store) IncrementAll(ctx context.Context, all []tenon.Addition) (sums []int64, err error) {
	s.trips.Add(1)
	if err := s.err.Load(); err != nil {
		return nil, *err
	}
	for _, a := range all {
		sum, err := s.Increment(ctx, a.Key, a.N, a.Life)
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

// A call is one round trip, however many limits it has; a flood of refused calls is
// none.
func TestRoundTrips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{Store: memstore.New(memstore.Options{})}
		c := newCaller(t, limit.Options{Store: s}, "everybody=rate 100/m day 100", "everybody a=rate 4/m day 9", "everybody=rate 1000/m day 1000 shared", "key:bob=concurrent 3")
		for i := range int64(4) {
			if c.call("a") != 0 || s.trips.Load() != i+1 {
				t.Fatal(i, s.trips.Load())
			}
		}
		for range 1000 {
			if c.call("a") == 0 {
				t.Fatal("the rate is passed")
			}
		}
		if n := s.trips.Load(); n != 6 {
			t.Errorf("%d round trips", n)
		}
	})
}

// Two replicas that share a store grant together what one would, within 5 %.
func TestReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := memstore.New(memstore.Options{})
		one := newCaller(t, limit.Options{Store: shared}, "everybody=rate 100/m burst 50")
		two := newCaller(t, limit.Options{Store: shared}, "everybody=rate 100/m burst 50")
		made := 0
		for began, i := time.Now(), 0; time.Since(began) < 20*time.Minute; i++ {
			c := one
			if i%3 == 0 {
				c = two
			}
			if c.call("a") == 0 {
				made++
			}
			time.Sleep(37 * time.Millisecond)
		}
		if made < 2000-2000/20 || made > 2050+2000/20 {
			t.Errorf("%d calls in 20 minutes", made)
		}
	})
}

// While the store fails, calls with a limit are refused and the others go on; the
// operator can have it otherwise.
func TestStoreFails(t *testing.T) {
	for _, open := range []bool{false, true} {
		s := &store{Store: memstore.New(memstore.Options{})}
		c := newCaller(t, limit.Options{Store: s, Open: open}, "key:alice=day 1")
		err := errors.New("nobody answers")
		s.err.Store(&err)
		for range 3 {
			wait := c.call("a")
			if !open && wait != 5*time.Second || open && wait != 0 {
				t.Error(open, wait)
			}
		}
		if c.key("bob").call("a") != 0 {
			t.Error("a call without a limit is refused")
		}
		s.err.Store(nil)
		if n, _ := c.calls("a"); n != 1 {
			t.Errorf("%d calls after the store came back", n)
		}
	}
}

// Who is not known is counted by address: another name makes no other caller.
func TestNoNameIsACallerOfItsOwn(t *testing.T) {
	c := newCaller(t, limit.Options{}, "everybody=day 1")
	c.as = nil
	if c.call("a") != 0 || c.call("a") == 0 {
		t.Error("nobody has no limit")
	}
}

// However many callers come at once, each has what is theirs, and nothing stays
// behind.
func TestManyCallersAtOnce(t *testing.T) {
	for name, options := range counting {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t, options(), "everybody=day 10", "everybody=concurrent 8 shared", "everybody b=concurrent 2", "everybody a=day 95 shared")
			var inside, most atomic.Int64
			made := make([]atomic.Int64, 10)
			var all sync.WaitGroup
			for i := range 40 {
				all.Go(func() {
					who := c.key(fmt.Sprint("caller ", i%10))
					for n := range 200 {
						if n%50 == 0 {
							c.l.Forget()
						}
						leave, wait := who.begin(c.attempt([]string{"a", "b"}[n%2]))
						if wait > 0 {
							continue
						}
						now := inside.Add(1)
						for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
						}
						made[i%10].Add(1)
						inside.Add(-1)
						leave()
					}
				})
			}
			all.Wait()
			if most.Load() > 8 {
				t.Errorf("%d at a time", most.Load())
			}
			for i := range made {
				if n := made[i].Load(); n > 10 {
					t.Errorf("caller %d made %d calls", i, n)
				}
			}
			var leaves []func()
			for range 8 {
				leave, wait := c.key(fmt.Sprint("late ", len(leaves))).begin(c.attempt("c"))
				if wait != 0 {
					t.Fatal("a place is lost")
				}
				leaves = append(leaves, leave)
			}
			for _, leave := range slices.Backward(leaves) {
				leave()
			}
		})
	}
}

// A call that a rate refuses has no place among those under way.
func TestWhatIsRefusedLeavesItsPlace(t *testing.T) {
	c := newCaller(t, limit.Options{}, "everybody=day 1 concurrent 3")
	for range 10 {
		c.call("a")
	}
	if n := c.l.Inside(); n != 0 {
		t.Errorf("%d accounts have calls under way", n)
	}
}
