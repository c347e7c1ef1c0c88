package evidence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/schema"
)

// Observation is a response that was validated.
type Observation struct {
	Tool any // what received it, a comparable value that Options.Describe knows

	Declared  bool   // a declared response covers it, with this status and media type
	Status    string // as declared
	MediaType string // as declared

	SentStatus    int    // as the service sent it; 0: no HTTP
	SentMediaType string // as the service sent it

	Verdict    tenon.Verdict // before a repair
	Against    *schema.Schema
	Violations []schema.Violation
	Subject    tenon.Subject // on whose behalf; of it nothing is kept
	Args       []byte        // of the call; of these a digest is kept
	Body       []byte        // the JSON value that was validated, which nobody changes any more; of some it is noted which places of the schema they have
	At         time.Time
}

// Operation is what a tool calls.
type Operation struct {
	Name      string // in the description
	Origin    string // of the service: scheme://host[:port]; empty: none
	Responses []tenon.ResponseSchema
}

// Options of [Open].
type Options struct {
	Path     string // of the file; it is made if need be, and its folder
	Describe func(tool any) Operation
	Interval time.Duration // how often what was counted is written; 0: five seconds
	// Key digests arguments, the same for all that count for one ledger. nil: a random
	// one, which ends with the process.
	Key    []byte
	Learn  bool          // keep the names of members that no schema describes, once three responses to two subjects had them
	Store  tenon.Store   // of replicas, which then share what they count; nil: this one is alone
	Share  time.Duration // how often they do; 0: a minute
	Logger *slog.Logger  // nil: nothing is logged
}

const (
	maxWaiting = 1024    // responses that wait to be counted
	maxArgs    = 4 << 10 // bytes of arguments that are digested
)

// Recorder counts responses. What it is told is counted by a goroutine of its own:
// nobody waits for it, and what comes faster than it counts is dropped and counted.
type Recorder struct {
	file  *File
	log   *slog.Logger
	tally tally // of the goroutine

	mu      sync.Mutex
	waiting []waiting // the first n of them
	n       int
	spare   []waiting // all free
	dropped int64     // since the last look
	bodies  int       // that wait
	looks   map[any]*looks

	wake    chan struct{} // holds one if many are waiting
	flush   chan chan error
	stop    chan struct{}
	stopped chan struct{}
	closing sync.Once
	failing atomic.Bool // the last write failed

	sharing  *sharing      // nil: the recorder is alone
	shared   chan struct{} // closed when it has ended
	unshared bool          // the last exchange failed
}

// waiting is an observation with arguments of its own.
type waiting struct {
	Observation

	args []byte
}

// Looking into a body takes longer than counting it, so few are looked into: at most
// maxBodies between two looks, and of a tool whose last ones had nothing new one of
// many.
const (
	maxBodies   = 16
	maxBodySize = 512 << 10
	maxLooks    = 20_000 // tools
	enoughLooks = 64     // without anything new
	oneOfMany   = 64
)

// looks is how often bodies of a tool were looked into.
type looks struct{ idle, skipped int }

// wanted reports whether a body is to be looked into.
func (r *Recorder) wanted(o *Observation) bool {
	if !o.Declared || o.Against == nil || len(o.Body) == 0 || len(o.Body) > maxBodySize || r.bodies == maxBodies {
		return false
	}
	l := r.looks[o.Tool]
	if l == nil {
		if len(r.looks) == maxLooks { // of tools that reloads have replaced
			clear(r.looks)
		}
		l = &looks{}
		r.looks[o.Tool] = l
	}
	if l.idle < enoughLooks {
		return true
	}
	l.skipped++
	return l.skipped%oneOfMany == 0
}

// Open begins to count for a file. The error says why nothing can be kept there; what
// goes wrong later is logged, and counted again when it is over.
func Open(o Options) (*Recorder, error) {
	file, err := OpenFile(o.Path)
	if err != nil {
		return nil, err
	}
	r := &Recorder{
		file: file, log: o.Logger, tally: newTally(o.Describe, o.Key), looks: map[any]*looks{},
		waiting: make([]waiting, maxWaiting), spare: make([]waiting, maxWaiting),
		wake: make(chan struct{}, 1), flush: make(chan chan error), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	if o.Learn {
		r.tally.learning = map[Key]*learning{}
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if o.Store != nil {
		r.sharing = &sharing{file: file, store: o.Store}
		r.shared = make(chan struct{})
		incident.Go(r.log, "sharing evidence", func() { r.share(cmp.Or(o.Share, shareEvery)) }, func(*incident.Error) { close(r.shared) })
	}
	incident.Go(r.log, "counting evidence", func() { r.run(cmp.Or(o.Interval, 5*time.Second)) }, func(*incident.Error) { close(r.stopped) })
	return r, nil
}

// Observe counts a response. It takes what it needs of o, and does not block.
func (r *Recorder) Observe(o *Observation) {
	r.mu.Lock()
	if r.n == len(r.waiting) {
		r.dropped++
		r.mu.Unlock()
		return
	}
	w := &r.waiting[r.n]
	w.Observation = *o
	w.args = append(w.args[:0], o.Args[:min(len(o.Args), maxArgs)]...)
	w.Args = nil
	if r.wanted(o) {
		r.bodies++
	} else {
		w.Body = nil
	}
	r.n++
	full := r.n == maxWaiting/2
	r.mu.Unlock()
	if full {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

func (r *Recorder) run(interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-r.wake:
			r.count()
		case <-tick.C:
			_ = r.write()
		case done := <-r.flush:
			done <- r.write()
		case <-r.stop:
			close(r.stopped)
			return
		}
	}
}

// count counts all that wait.
func (r *Recorder) count() {
	r.mu.Lock()
	list, n := r.waiting, r.n
	r.waiting, r.spare, r.n, r.bodies = r.spare, nil, 0, 0
	r.tally.dropped += r.dropped
	r.dropped = 0
	r.mu.Unlock()
	var looked []look
	for i := range list[:n] {
		news := r.tally.count(&list[i])
		if list[i].Body != nil {
			looked = append(looked, look{list[i].Tool, news})
		}
		list[i].Observation = Observation{} // what it refers to can go
	}
	r.mu.Lock()
	r.spare = list
	for _, one := range looked {
		if l := r.looks[one.tool]; l != nil {
			if l.idle++; one.news {
				l.idle = 0
			}
		}
	}
	r.mu.Unlock()
}

// look is whether a body had places that had not come before.
type look struct {
	tool any
	news bool
}

// write adds what was counted to the file.
func (r *Recorder) write() error {
	r.count()
	if r.tally.empty() {
		return nil
	}
	err := r.file.Add(r.tally.counts, r.tally.dropped)
	switch {
	case err == nil:
		r.tally.reset()
		if r.failing.Swap(false) {
			r.log.Info("evidence is written again", "file", r.file.path)
		}
	case !r.failing.Swap(true):
		r.log.Warn("evidence cannot be written; it is counted on and written when that is possible", "file", r.file.path, "error", err)
	}
	return err
}

// share exchanges what was written with other replicas, until the recorder stops and once
// more then.
func (r *Recorder) share(interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.exchange()
		case <-r.stopped:
			r.exchange()
			close(r.shared)
			return
		}
	}
}

func (r *Recorder) exchange() {
	err := r.sharing.exchange(context.Background())
	switch {
	case err == nil && r.unshared:
		r.log.Info("evidence is shared with other replicas again")
	case err != nil && !r.unshared:
		r.log.Warn("evidence cannot be shared with other replicas; it is counted on and shared when that is possible", "error", err)
	}
	r.unshared = err != nil
}

// Flush writes what was counted until now.
func (r *Recorder) Flush() error {
	done := make(chan error, 1)
	select {
	case r.flush <- done:
	case <-r.stopped:
		return errEnded
	}
	select {
	case err := <-done:
		return err
	case <-r.stopped: // it broke off while it wrote
		return errEnded
	}
}

var errEnded = errors.New("counting evidence has ended; the log says why")

// Path is where the ledger is.
func (r *Recorder) Path() string { return r.file.path }

// Close writes what is left and ends.
func (r *Recorder) Close() (err error) {
	r.closing.Do(func() {
		if err = r.Flush(); err != nil {
			err = fmt.Errorf("evidence of the last responses is lost: %w", err)
		}
		close(r.stop)
		<-r.stopped
		if r.sharing != nil {
			<-r.shared
		}
	})
	return err
}
