package roll_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/memstore"
	"github.com/tenon-mcp/tenon/internal/roll"
)

// replica is one that lists what its description says. Only its own methods change it.
type replica struct {
	t    *testing.T
	roll *roll.Roll

	mu          sync.Mutex
	description string // what it would read
	listed      string
	told        []string // what was listed when clients were told
	said        []string
	rereads     int
	slow        time.Duration // a reread takes
}

func (r *replica) lists() string { r.mu.Lock(); defer r.mu.Unlock(); return r.listed }

func (r *replica) reread(context.Context) {
	time.Sleep(r.slow)
	r.mu.Lock()
	r.rereads++
	changed := r.listed != r.description
	r.listed = r.description
	r.mu.Unlock()
	if changed {
		r.roll.Changed(r.lists)
	}
}

// changes is what a file that changes does.
func (r *replica) changes(to string) {
	r.mu.Lock()
	r.description, r.listed = to, to
	r.mu.Unlock()
	r.roll.Changed(r.lists)
}

func (r *replica) wants(told ...string) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.told, told) {
		r.t.Errorf("clients were told of %q, want %q", r.told, told)
	}
}

func (r *replica) wantsSaid(parts ...string) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.said) != len(parts) {
		r.t.Fatalf("%d lines: %q", len(r.said), r.said)
	}
	for i, part := range parts {
		if !strings.Contains(r.said[i], part) {
			r.t.Errorf("no %q in %q", part, r.said[i])
		}
	}
}

func join(t *testing.T, s tenon.Store, change func(*roll.Options)) *replica {
	t.Helper()
	r := &replica{t: t, description: "old", listed: "old"}
	o := roll.Options{
		Store: s, Name: "a", Version: "1", Secret: "s", Lists: r.lists, Reread: r.reread,
		Tell: func() { r.mu.Lock(); defer r.mu.Unlock(); r.told = append(r.told, r.listed) },
		Say:  func(text string) { r.mu.Lock(); defer r.mu.Unlock(); r.said = append(r.said, text) },
	}
	if change != nil {
		change(&o)
	}
	var err error
	if r.roll, err = roll.Join(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	r.roll.Start(t.Context())
	synctest.Wait()
	return r
}

// in runs a test with a clock of its own.
func in(t *testing.T, f func(t *testing.T, s *memstore.Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		defer s.Close()
		f(t, s)
	})
}

// quiet is a store whose replicas cannot call each other.
type quiet struct{ tenon.Store }

// One replica reads a description that changed; the others read theirs again, and all
// clients hear of it once, when every replica has it.
func TestAllClientsAreToldOnce(t *testing.T) {
	for name, store := range map[string]func(tenon.Store) tenon.Store{
		"called":     func(s tenon.Store) tenon.Store { return s },
		"looking on": func(s tenon.Store) tenon.Store { return quiet{s} },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, s *memstore.Store) {
				a, b, c := join(t, store(s), nil), join(t, store(s), nil), join(t, store(s), nil)
				b.description, c.description = "new", "new"
				a.changes("new")
				synctest.Wait()
				if name == "looking on" {
					a.wants()
					time.Sleep(time.Minute)
				}
				for _, r := range []*replica{a, b, c} {
					if r == a && name == "looking on" { // the others looked after it had waited long enough
						synctest.Wait()
						if a.told[0] != "new" || len(a.told) > 3 {
							t.Errorf("clients were told of %q", a.told)
						}
						continue
					}
					r.wants("new")
				}
				a.changes("new") // a file that was written again
				time.Sleep(time.Minute)
				b.wants("new")
				for _, r := range []*replica{a, b, c} {
					_ = r.roll.Close()
				}
			})
		})
	}
}

// A replica that still has the old lists does not send its clients to them. Those of
// the new ones hear of them after a while, and again when the last replica has them:
// in between somebody may have got the old ones there.
func TestAReplicaThatIsLate(t *testing.T) {
	in(t, func(t *testing.T, s *memstore.Store) {
		a, b := join(t, s, nil), join(t, s, nil)
		a.changes("new")
		a.wants()
		b.wants()
		time.Sleep(5 * time.Second)
		a.wants("new")
		b.wants()
		if b.rereads != 1 {
			t.Errorf("%d rereads", b.rereads)
		}
		time.Sleep(time.Minute)
		a.wants("new")
		b.changes("new")
		a.wants("new", "new")
		b.wants("new")
		_, _ = a.roll.Close(), b.roll.Close()
	})
}

func TestOneThatIsAloneTellsAtOnce(t *testing.T) {
	in(t, func(t *testing.T, s *memstore.Store) {
		a := join(t, s, nil)
		a.changes("new")
		a.wants("new")
		b := join(t, s, nil)
		_ = b.roll.Close()
		a.changes("newer")
		a.wants("new", "newer")
		_ = s.Close() // the store fails
		a.changes("newest")
		a.wants("new", "newer", "newest")
		_ = a.roll.Close()
	})
}

// A description that is read again before its first digest was made is no change.
func TestTheFirstListIsNoChange(t *testing.T) {
	in(t, func(t *testing.T, s *memstore.Store) {
		a := &replica{t: t, listed: "old"}
		told := 0
		var err error
		if a.roll, err = roll.Join(t.Context(), roll.Options{Store: s, Lists: func() string { return "old" }, Tell: func() { told++ }}); err != nil {
			t.Fatal(err)
		}
		a.roll.Changed(a.lists)
		a.roll.Start(t.Context())
		time.Sleep(time.Minute)
		if told != 0 {
			t.Errorf("clients were told %d times", told)
		}
		_ = a.roll.Close()
	})
}

// Descriptions that are never the same twice do not make replicas read for ever.
func TestReplicasDoNotChaseEachOther(t *testing.T) {
	in(t, func(t *testing.T, s *memstore.Store) {
		a, b := join(t, s, nil), join(t, s, nil)
		a.description, b.description = "a1", "b1"
		a.changes("a0")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if a.rereads != 0 || b.rereads != 1 {
			t.Errorf("%d and %d rereads", a.rereads, b.rereads)
		}
		a.wants("a0")
		b.wants("b1")
		b.wantsSaid("the tools that it lists")
		_, _ = a.roll.Close(), b.roll.Close()
	})
}

// What changes while descriptions are read for another replica is read once more.
func TestASlowRereadIsMadeOnceMore(t *testing.T) {
	in(t, func(t *testing.T, s *memstore.Store) {
		a, b := join(t, s, nil), join(t, s, nil)
		b.slow = time.Second
		a.changes("one")
		synctest.Wait()
		a.changes("two")
		synctest.Wait()
		a.changes("three")
		b.mu.Lock()
		b.description = "three"
		b.mu.Unlock()
		time.Sleep(3 * time.Second)
		a.wants("three")
		b.wants("three")
		if b.rereads != 2 {
			t.Errorf("%d rereads", b.rereads)
		}
		_, _ = a.roll.Close(), b.roll.Close()
	})
}

func TestAnotherSecretIsRefused(t *testing.T) {
	in(t, func(t *testing.T, s *memstore.Store) {
		a := join(t, s, func(o *roll.Options) { o.Name = "first" })
		_, err := roll.Join(t.Context(), roll.Options{Store: s, Name: "b", Secret: "other", Lists: a.lists})
		other, ok := errors.AsType[*roll.SecretError](err)
		if !ok || other.Name != "first" || !strings.Contains(err.Error(), "forgotten after 45s") {
			t.Errorf("got %v", err)
		}
		a.wantsSaid()
		_ = a.roll.Close()
		b := join(t, s, func(o *roll.Options) { o.Secret = "other" })
		_ = b.roll.Close()
	})
}

// One that was killed is forgotten after a while.
func TestOneThatWasKilledIsForgotten(t *testing.T) {
	in(t, func(t *testing.T, s *memstore.Store) {
		if err := s.Put(t.Context(), "replicas 7", []byte(`{"id":"x","name":"dead","common":"other"}`), 45*time.Second); err != nil {
			t.Fatal(err)
		}
		if _, err := roll.Join(t.Context(), roll.Options{Store: s, Secret: "s"}); err == nil {
			t.Error("no error")
		}
		time.Sleep(45 * time.Second)
		_ = join(t, s, nil).roll.Close()
	})
}

// Both who differ are told in what, once, and that they agree again.
func TestDifferencesAreSaid(t *testing.T) {
	in(t, func(t *testing.T, s *memstore.Store) {
		a := join(t, s, func(o *roll.Options) { o.Name, o.Settings = "first", map[string]string{"limit": "1", "confirm": "1"} })
		b := join(t, s, func(o *roll.Options) {
			o.Name, o.Version, o.Settings = "second", "2", map[string]string{"limit": "2", "source shop": "1"}
		})
		b.wantsSaid(`"first", which has the same store, differs from this one in its version, "1" and here "2"; and in its settings: confirm, limit, source shop`)
		a.wantsSaid(`"second", which has the same store, differs from this one in its version, "2" and here "1"; and in its settings: confirm, limit, source shop`)
		time.Sleep(time.Hour)
		if len(a.said)+len(b.said) != 2 {
			t.Errorf("%q %q", a.said, b.said)
		}
		b.roll.Configured(map[string]string{"limit": "1", "confirm": "1"})
		synctest.Wait()
		_ = b.roll.Close()
		c := join(t, s, func(o *roll.Options) { o.Name, o.Settings = "second", map[string]string{"limit": "1", "confirm": "1"} })
		c.wantsSaid()
		a.roll.Configured(map[string]string{"limit": "9", "confirm": "1"})
		c.wantsSaid("in its settings: limit")
		a.roll.Configured(map[string]string{"limit": "1", "confirm": "1"})
		c.wantsSaid("in its settings: limit", `"first" agrees with this one again`)
		_, _ = a.roll.Close(), c.roll.Close()
	})
}

// What others wrote into the store stops nobody, and a place that was lost is taken
// again.
func TestPlaces(t *testing.T) {
	in(t, func(t *testing.T, s *memstore.Store) {
		for i, text := range []string{"", "x", "{}", `{"id":7}`, strings.Repeat("[", 1<<17)} {
			if err := s.Put(t.Context(), "replicas "+strconv.Itoa(i), []byte(text), time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		a := join(t, s, nil)
		at := func(place, part string) bool {
			synctest.Wait()
			got, _, _ := s.Get(t.Context(), "replicas "+place)
			return strings.Contains(string(got), part)
		}
		if !at("5", `"lists":"old"`) {
			t.Error("the first free place is not taken")
		}
		_ = s.Put(t.Context(), "replicas 5", []byte(`{"id":"thief"}`), time.Hour)
		_ = s.Announce(t.Context(), "replicas")
		if !at("5", "thief") || !at("6", `"lists":"old"`) {
			t.Error("the place that was lost is not replaced")
		}
		_, _, _ = s.GetAndDelete(t.Context(), "replicas 6")
		time.Sleep(15 * time.Second)
		if !at("0", "") || !at("6", `"lists":"old"`) {
			t.Error("an entry that was lost is not written again")
		}
		_ = a.roll.Close()
		if at("6", "old") {
			t.Error("one that ended is on the roll")
		}
	})
}

// More replicas than there are places serve as well, and take those that become
// free.
func TestMoreReplicasThanPlaces(t *testing.T) {
	in(t, func(t *testing.T, s *memstore.Store) {
		var all []*replica
		for range 65 {
			all = append(all, join(t, s, nil))
		}
		last := all[64]
		last.changes("new")
		time.Sleep(5 * time.Second)
		last.wants("new")
		_ = all[3].roll.Close()
		synctest.Wait()
		if got, _, _ := s.Get(t.Context(), "replicas 3"); !strings.Contains(string(got), `"lists":"new"`) {
			t.Errorf("the place is not taken: %s", got)
		}
		for i, r := range all {
			if i != 3 {
				_ = r.roll.Close()
			}
		}
	})
}
