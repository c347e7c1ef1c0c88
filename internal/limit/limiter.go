package limit

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/inflight"
)

// Options are the options of New.
type Options struct {
	// Names returns the names by which a rule can mean a tool; nil: the tool's own.
	Names func(*gateway.Tool) []string
	Store tenon.Store  // that replicas share; nil: calls are counted in the memory of this process
	Open  bool         // calls are admitted while Store fails; otherwise those that have a limit are refused
	Log   *slog.Logger // told when Store fails and when it answers again; nil: nobody
}

// Limiter refuses calls above the operator's limits. It is a [gateway.Admission].
type Limiter struct {
	options Options
	meter   meter
	rules   atomic.Pointer[rules]
	failing atomic.Bool // the store did not answer the last call

	mu     sync.Mutex
	inside map[account]int64 // calls under way; without one there is no entry
}

// New returns a limiter that limits nothing before [Limiter.Set].
func New(o Options) *Limiter {
	l := &Limiter{options: o, meter: newMemory(), inside: map[account]int64{}}
	if o.Store != nil {
		l.meter = newStored(o.Store)
	}
	if o.Log == nil {
		l.options.Log = slog.New(slog.DiscardHandler)
	}
	l.Set(nil)
	return l
}

// Set replaces the rules. What was counted stays counted where a rule counts the
// same: calls of a caller, of the same tools.
func (l *Limiter) Set(all []Rule) { l.rules.Store(newRules(all)) }

// Forget forgets which rules are about which tools, after the tools changed.
func (l *Limiter) Forget() { l.rules.Store(newRules(l.rules.Load().all)) }

// Rules are those in force.
func (l *Limiter) Rules() []Rule { return l.rules.Load().all }

// Allowance is what one caller may hold of the server.
func (l *Limiter) Allowance(ctx context.Context) Allowance {
	return l.rules.Load().allowance(auth.FromContext(ctx))
}

// retryPlace is when a call is tried again that found no place among those under way:
// nobody knows when one ends.
const retryPlace = time.Second

// retryStore is when a call is tried again that could not be counted.
const retryStore = 5 * time.Second

// Admit implements [gateway.Admission]. A further part of a result counts among the
// calls at a time, and against nothing else: it is no new call of anything.
func (l *Limiter) Admit(ctx context.Context, a gateway.Attempt) (leave func(), err error) {
	r := l.rules.Load()
	if len(r.all) == 0 {
		return nil, nil //nolint:nilnil // nobody has to know
	}
	var first [8]demand // enough for nearly everybody
	who := callerOf(ctx)
	demands, places := demands(first[:0], &who, r.about(a.Tool, l.options.Names))
	if refused := l.enter(demands[:places]); refused != nil {
		return nil, tooMany(refused, retryPlace)
	}
	if places > 0 {
		held := append([]demand(nil), demands[:places]...)
		leave = func() { l.leave(held) }
	}
	if a.Part || len(demands) == places {
		return leave, nil
	}
	refused, wait, err := l.meter.take(ctx, time.Now(), demands[places:])
	if err = l.counted(err); refused == nil && err == nil {
		return leave, nil
	}
	l.leave(demands[:places])
	if err != nil {
		return nil, err
	}
	return nil, tooMany(refused, wait)
}

// counted says in the log when the store begins and ends to fail, and returns the
// error of a call that cannot be counted.
func (l *Limiter) counted(err error) error {
	if was := l.failing.Load(); was != (err != nil) && l.failing.CompareAndSwap(was, err != nil) {
		if err != nil {
			l.options.Log.Error("calls cannot be counted against their limits", "error", err, "calls", map[bool]string{false: "are refused", true: "go on"}[l.options.Open])
		} else {
			l.options.Log.Warn("calls are counted against their limits again")
		}
	}
	if err == nil || l.options.Open {
		return nil
	}
	return &tenon.Error{
		Code: tenon.CodeInternal, Message: "The call cannot be counted against its limits now, so it is refused. Nothing was sent. Try again in 5 seconds.",
		RetryAfter: retryStore, Suggestions: []string{"Wait 5 seconds, then call again; tell the operator if that does not help"},
	}
}

// enter takes a place among the calls under way for each demand; else it returns the
// first for which there is none.
func (l *Limiter) enter(places []demand) *demand {
	if len(places) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range places {
		if l.inside[places[i].account] >= places[i].most {
			return &places[i]
		}
	}
	for i := range places {
		l.inside[places[i].account]++
	}
	return nil
}

func (l *Limiter) leave(places []demand) {
	if len(places) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range places {
		a := places[i].account
		if l.inside[a]--; l.inside[a] == 0 {
			delete(l.inside, a)
		}
	}
}

// tooMany is the error of a call above a limit.
func tooMany(d *demand, wait time.Duration) error {
	again := "in " + (time.Duration(tenon.RetrySeconds(wait)) * time.Second).String()
	var what string
	switch d.kind {
	case concurrentKind:
		what = fmt.Sprintf("Too many calls at once: the operator allows %d", d.most)
	case dayKind:
		what = fmt.Sprintf("The operator allows %d calls a day (UTC), and they are used up", d.most)
	default:
		what = fmt.Sprintf("Too many calls: the operator allows one in %v, and %d at once", d.interval.Round(time.Microsecond), d.most)
	}
	if d.caller == "" {
		what += ", by all callers together"
	}
	return &tenon.Error{
		Code: tenon.CodeRateLimited, RetryAfter: max(wait, time.Millisecond),
		Message: what + ". Nothing was sent. Try again " + again + ".", Suggestions: []string{"Wait, then call again " + again},
	}
}

// caller is who a call counts against.
type caller struct {
	who *auth.Caller // nil: nobody is known
	id  string
}

// callerOf returns the caller of ctx: by name, else by network address, because who
// has no name can invent one.
func callerOf(ctx context.Context) caller {
	if who := auth.FromContext(ctx); who != nil {
		return caller{who, "caller " + who.ID()}
	}
	return caller{nil, "address " + inflight.CallerOf(ctx).Origin}
}
