package server

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// scanned is who is next, found by a look at everybody: of those whose caller and
// address have room, who has the least; of those, who waits longest.
func scanned(q *quota, waiting []*waiter) (first *waiter) {
	for _, w := range waiting {
		caller, origin := q.usages(w.account)
		if !caller.fits(w) || !origin.fits(w) {
			continue
		}
		if first == nil || caller.used < usageOf(q.callers, first.account.key, q.each).used {
			first = w
		}
	}
	return first
}

func drawAccount(t *rapid.T) account {
	return account{key: fmt.Sprint("c", rapid.IntRange(0, 5).Draw(t, "caller")), origin: fmt.Sprint("o", rapid.IntRange(0, 2).Draw(t, "address"))}
}

// Whatever came before, the next to get room is the one that a look at everybody
// finds.
func TestNextIsWhoHasLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q quota
		q.init(rapid.Int64Range(1, 24).Draw(t, "all"), rapid.Int64Range(0, 8).Draw(t, "each"))
		var waiting []*waiter
		var held []account
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			switch i := rapid.IntRange(0, 9).Draw(t, "what"); {
			case i < 5:
				w := &waiter{account: drawAccount(t), n: 1}
				if _, ok := q.tryLocked(w); ok {
					held = append(held, w.account)
				} else {
					q.wait(w)
					waiting = append(waiting, w)
				}
			case i < 7 && len(waiting) > 0:
				i := rapid.IntRange(0, len(waiting)-1).Draw(t, "who leaves")
				if !q.leave(waiting[i]) {
					t.Fatal("it did not wait")
				}
				waiting = append(waiting[:i], waiting[i+1:]...)
			case len(held) > 0:
				i := rapid.IntRange(0, len(held)-1).Draw(t, "who gives back")
				q.hold(held[i], -1, false)
				held = append(held[:i], held[i+1:]...)
			}
			for w := scanned(&q, waiting); w != nil || q.next() != nil; w = scanned(&q, waiting) {
				if got := q.next(); got != w {
					t.Fatalf("next is %+v, want %+v", got, w)
				}
				if !q.hasCapacity(w) {
					break
				}
				q.leave(w)
				q.grant(w)
				held = append(held, w.account)
				for i := range waiting {
					if waiting[i] == w {
						waiting = append(waiting[:i], waiting[i+1:]...)
						break
					}
				}
			}
		}
		for _, w := range waiting {
			q.leave(w)
		}
		for _, c := range held {
			q.hold(c, -1, false)
		}
		if len(q.callers)+len(q.origins)+len(q.waiting.origins) != 0 || q.all.used != 0 {
			t.Fatalf("%d callers, %d addresses and %d places are left", len(q.callers), len(q.origins), q.all.used)
		}
	})
}

// Calls that read, in any order and mixed with others that hold something for a
// while, all get what they need once the others are done.
func TestReadersAllEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q quota
		q.init(rapid.Int64Range(4, 40).Draw(t, "all"), 0)
		type reader struct {
			h     *holding
			needs int64
			w     *waiter // what it waits for
		}
		var readers []*reader
		other := account{key: "c0", origin: "o0"}
		taken, _ := q.tryLocked(&waiter{account: other, n: q.share(other, rapid.Int64Range(1, 20).Draw(t, "taken"))})
		for range rapid.IntRange(1, 8).Draw(t, "readers") {
			readers = append(readers, &reader{h: &holding{account: drawAccount(t)}, needs: rapid.Int64Range(1, 40).Draw(t, "needs")})
		}
		step := func(r *reader) (moved bool) {
			if r.w != nil && r.w.queue != nil {
				return false // it waits
			}
			if r.w = nil; r.h.took >= q.share(r.h.account, r.needs) {
				if !r.h.over {
					q.rest(r.h)
					q.giveLocked(r.h.account, r.h.took)
					return true
				}
				return false
			}
			if !r.h.reads() {
				q.read(r.h)
			}
			w := &waiter{account: r.h.account, n: min(3, q.share(r.h.account, r.needs)-r.h.took), holding: r.h}
			if q.hasCapacity(w) && (q.next() == nil || q.all.stuck() == r.h) {
				q.grant(w)
			} else {
				r.w = w
				q.wait(w)
			}
			return true
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			step(readers[rapid.IntRange(0, len(readers)-1).Draw(t, "who")])
		}
		q.giveLocked(other, taken)
		for moved := true; moved; {
			moved = false
			for _, r := range readers {
				moved = step(r) || moved
			}
		}
		for _, r := range readers {
			if !r.h.over {
				t.Fatalf("%+v waits for ever, has %d of %d; %+v", r.h.account, r.h.took, r.needs, q.all)
			}
		}
		if len(q.callers)+len(q.origins) != 0 || q.all.used != 0 || q.all.reading != 0 {
			t.Fatalf("%d callers, %d addresses and %d places are left", len(q.callers), len(q.origins), q.all.used)
		}
	})
}

// What was granted to a waiter that gives up in the same moment is given back.
func TestCapacityThatComesTooLateIsReleased(t *testing.T) {
	c := account{key: "c", origin: "o"}
	for range 50 { // which of the two ends the wait is for select to choose
		var q quota
		q.init(2, 2)
		took, _ := q.try(c, 2)
		w := &waiter{account: c, n: 1}
		q.wait(w)
		q.give(c, took)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if n, err := q.await(ctx, w, 0); err == nil {
			q.give(c, n)
		}
		if n := q.held(); n != 0 {
			t.Fatalf("%d places are lost", n)
		}
	}
}

// The results of tasks that are gone hold nothing.
func TestBytesOfTasksAreGivenBack(t *testing.T) {
	var ts tasks
	ts.init()
	held := newTask("ann", account{key: "ann"}, func() {})
	if !ts.add(held) || !ts.hold(held, 1000) || ts.bytes.held() != 1000 {
		t.Fatalf("%d bytes are held", ts.bytes.held())
	}
	ts.remove(held)
	if n := ts.bytes.held() + ts.count.held(); n != 0 {
		t.Errorf("%d bytes and places are lost", n)
	}
}

// A client makes the server remember so many resources and no more; one that it
// knows can be asked for again.
func TestWatchedResourcesAreBounded(t *testing.T) {
	p := newClientState()
	for i := range maxWatched {
		if !p.watch(fmt.Sprint("shop://book/", i)) {
			t.Fatalf("resource %d is refused", i)
		}
	}
	if p.watch("shop://one/more") || p.watches("shop://one/more") || !p.watch("shop://book/0") {
		t.Error("the bound is not kept")
	}
	p.unwatch("shop://book/0")
	if !p.watch("shop://one/more") {
		t.Error("room is not given back")
	}
}

// An address has its share, whatever names it invents for itself.
func TestAnAddressHasItsShare(t *testing.T) {
	var q quota
	q.init(16, 4)
	taken := 0
	for i := range 16 {
		if _, ok := q.try(account{key: fmt.Sprint("name ", i), origin: "o"}, 1); ok {
			taken++
		}
	}
	if taken != 14 {
		t.Errorf("one address has %d of 16 places, want 14", taken)
	}
	if _, ok := q.try(account{key: "other", origin: "elsewhere"}, 1); !ok {
		t.Error("another address has no room")
	}
}

// Who gives up lets those by that waited behind it.
func TestWhoGivesUpLetsOthersBy(t *testing.T) {
	var q quota
	q.init(4, 4)
	q.try(account{key: "a"}, 3)
	large, small := &waiter{account: account{key: "b"}, n: 2}, &waiter{account: account{key: "c"}, n: 1}
	q.wait(large)
	q.wait(small)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.await(ctx, large, 0); err == nil || q.held() != 4 {
		t.Errorf("%v; %d places are held, want 4", err, q.held())
	}
}

// Where all sessions of who has many are in use, a new one of theirs does not end
// that of who has few.
func TestNobodyLosesASessionToWhoHasMore(t *testing.T) {
	var ss sessions
	ss.init(&Options{MaxSessions: 8, SessionIdle: time.Hour})
	open := func(key string, inUse bool) *session {
		v, _ := ss.mint(account{key: key})
		if v != nil {
			v.unread = func(*answer) {}
		}
		if inUse {
			ss.find(v.id)
		}
		return v
	}
	few := open("few", false)
	for range 3 {
		open("more", true)
	}
	for range 4 {
		open("most", true)
	}
	if open("more", false) != nil || ss.find(few.id) == nil {
		t.Error("a session of another caller ended")
	}
}
