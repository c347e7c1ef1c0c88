package roll

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/incident"
)

const (
	name       = "replicas" // of the key and of the topic
	beat       = 15 * time.Second
	life       = 3 * beat        // of an entry that is not renewed
	settleTime = 5 * time.Second // so long clients are not told of lists that other replicas do not have yet
	lag        = 2 * beat        // so long replicas may list different things before that is said
	storeTime  = 2 * time.Second
)

// Options are the options of Join.
type Options struct {
	Store tenon.Store
	Log   *slog.Logger // told when the store fails and when it answers again

	Name     string            // of this replica, for people
	Version  string            // of tenon
	Secret   string            // digest of the common secret
	Settings map[string]string // digests of the settings that have to be the same, by their names
	Lists    func() string     // returns a digest of what is listed; called once, and may take long

	Reread func(context.Context) // another replica lists something else than before
	Tell   func()                // clients have to hear that lists have changed
	Say    func(text string)     // what the operator has to know
}

// Roll is the membership of one replica.
type Roll struct {
	o      Options
	id     string
	wake   chan struct{} // holds an element while there is something to look at
	due    *time.Timer   // settleTime is over
	stop   context.CancelFunc
	ended  chan struct{}
	listen func() // ends listening

	mu        sync.Mutex
	change    func() string // of the lists, not looked at yet; nil: none
	prompted  bool          // change came of Reread
	settings  map[string]string
	rereading bool
	again     bool // to be read once more

	// The rest belongs to the goroutine of the roll.
	self    entry
	written bool                 // self stands in the store as it is
	place   int                  // of self in the store; negative: none
	lists   map[string]string    // what others listed, by their ids
	apart   map[string]time.Time // since when another lists something else
	said    map[string]string    // how others differ, as it was said
	pending bool                 // clients have to be told
	until   time.Time            // when settleTime is over
	failing bool
}

// SecretError says that another replica has another secret.
type SecretError struct{ Name string } // of the other

func (e *SecretError) Error() string {
	return fmt.Sprintf("the replica %q that uses this store has another secret, so that neither understands what the other one gave to a client; "+
		"give all of them this one, or use another database. If that replica was killed, it is forgotten after %v", e.Name, life)
}

// Join enters a replica in the roll, which [Roll.Start] keeps from then on. The error is a [*SecretError]: a store that fails
// is no reason not to serve.
func Join(ctx context.Context, o Options) (*Roll, error) {
	r := &Roll{
		o: o, id: rand.Text(), wake: make(chan struct{}, 1), ended: make(chan struct{}), listen: func() {},
		settings: o.Settings, place: -1, lists: map[string]string{}, apart: map[string]time.Time{}, said: map[string]string{},
	}
	r.self = entry{ID: r.id, Name: o.Name, Version: o.Version, Secret: o.Secret, Settings: o.Settings}
	if r.o.Log == nil {
		r.o.Log = slog.New(slog.DiscardHandler)
	}
	others, free, err := r.read(ctx)
	for i := range others {
		if others[i].Secret != o.Secret {
			return nil, &SecretError{others[i].Name}
		}
	}
	if err == nil {
		r.compare(others, time.Now())
		err = r.write(ctx, free)
	}
	r.failed(err)
	return r, nil
}

// Start begins to look at what others do. Close ends it.
func (r *Roll) Start(ctx context.Context) {
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	if a, ok := r.o.Store.(tenon.Announcer); ok {
		r.listenTo(ctx, a)
	}
	r.due = time.NewTimer(settleTime)
	r.due.Stop()
	r.Look()
	incident.Go(r.o.Log, "keeping the roll of replicas", func() {
		defer close(r.ended)
		r.run(ctx)
	}, nil)
}

func (r *Roll) listenTo(ctx context.Context, a tenon.Announcer) {
	limited, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	stop, err := a.Listen(limited, name, r.Look)
	if err != nil {
		r.o.Log.Warn("the store does not let replicas call each other: they hear of changes when they look, every 15 seconds", "error", err)
		return
	}
	r.listen = stop
}

// Look makes the roll look at what is in the store.
func (r *Roll) Look() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Changed says that other lists are in force. lists returns a digest of them.
func (r *Roll) Changed(lists func() string) {
	r.mu.Lock()
	r.change, r.prompted = lists, r.rereading
	r.mu.Unlock()
	r.Look()
}

// Configured says that other settings are in force.
func (r *Roll) Configured(settings map[string]string) {
	r.mu.Lock()
	r.settings = settings
	r.mu.Unlock()
	r.Look()
}

// Close takes the replica off the roll.
func (r *Roll) Close() error {
	r.listen()
	r.stop()
	<-r.ended
	if r.place < 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	if _, _, err := r.o.Store.GetAndDelete(ctx, keyOf(r.place)); err == nil { // else its life ends it
		r.announce(ctx)
	}
	return nil
}

func (r *Roll) run(ctx context.Context) {
	beats := time.NewTicker(beat)
	defer beats.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beats.C:
			r.look(ctx, true)
		case <-r.wake:
			r.look(ctx, false)
		case <-r.due.C:
			r.look(ctx, false)
		}
	}
}

// look takes what has changed here, reads what has changed elsewhere, and does what
// follows of both.
func (r *Roll) look(ctx context.Context, renew bool) {
	own := r.take()
	now := time.Now()
	others, free, err := r.read(ctx)
	if err == nil && (renew || !r.written) {
		err = r.write(ctx, free)
	}
	r.failed(err)
	if own {
		r.owe(now)
	}
	if err != nil { // as one that is alone
		r.tell()
		return
	}
	r.follow(ctx, others, now)
	r.compare(others, now)
	if r.pending && (!now.Before(r.until) || r.agree(others)) {
		r.tell()
	}
}

// take takes what has changed here, and reports whether that are lists.
func (r *Roll) take() (lists bool) {
	r.mu.Lock()
	change, prompted := r.change, r.prompted
	r.change = nil
	if !maps.Equal(r.self.Settings, r.settings) {
		r.self.Settings, r.written = r.settings, false
	}
	r.mu.Unlock()
	if r.self.Lists == "" {
		r.self.Lists, r.written = r.o.Lists(), false
	}
	if change == nil {
		return false
	}
	digest := change()
	if digest == r.self.Lists {
		return false
	}
	r.self.Lists, r.self.Prompted, r.written = digest, prompted, false
	return true
}

// follow looks what other replicas list now.
func (r *Roll) follow(ctx context.Context, others []entry, now time.Time) {
	if len(r.lists) > maxKnown {
		clear(r.lists)
	}
	for i := range others {
		e := &others[i]
		before := r.lists[e.ID]
		if e.Lists == "" || e.Lists == before {
			continue
		}
		r.lists[e.ID] = e.Lists
		switch {
		case e.Lists != r.self.Lists && !e.Prompted:
			r.reread(ctx)
		case e.Lists == r.self.Lists && before != "": // who listed there in between has the old ones
			r.owe(now)
		}
	}
}

// owe notes that clients have to be told.
func (r *Roll) owe(now time.Time) {
	if r.pending {
		return
	}
	r.pending, r.until = true, now.Add(settleTime)
	r.due.Reset(settleTime)
}

func (r *Roll) tell() {
	if r.pending {
		r.pending = false
		r.due.Stop()
		r.o.Tell()
	}
}

// agree reports whether all replicas list the same. Who has not said what will soon.
func (r *Roll) agree(others []entry) bool {
	return !slices.ContainsFunc(others, func(e entry) bool { return e.Lists != r.self.Lists })
}

// reread reads the descriptions again, and once more if it is asked to meanwhile.
func (r *Roll) reread(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rereading {
		r.again = true
		return
	}
	r.rereading = true
	incident.Go(r.o.Log, "reading descriptions again for another replica", func() {
		defer func() {
			r.mu.Lock()
			again := r.again
			r.rereading, r.again = false, false
			r.mu.Unlock()
			if again {
				r.reread(ctx)
			}
		}()
		r.o.Reread(ctx)
	}, nil)
}

// failed says that the store fails, and that it answers again.
func (r *Roll) failed(err error) {
	switch {
	case err != nil && !r.failing:
		r.o.Log.Warn("the roll of replicas cannot be kept in the store", "error", err)
	case err == nil && r.failing:
		r.o.Log.Info("the roll of replicas is kept in the store again")
	}
	r.failing = err != nil
}
