package roll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
)

const (
	places   = 64      // as many replicas are on the roll
	maxBytes = 1 << 16 // of an entry
	maxName  = 100     // bytes that are shown
	maxShown = 8       // settings that are named
	maxKnown = 1024    // replicas that were seen, also those that ended
)

// entry is what stands in the store of one replica, for as long as it renews it.
type entry struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Version  string            `json:"version"`
	Secret   string            `json:"common"` // a digest
	Settings map[string]string `json:"settings,omitempty"`
	Lists    string            `json:"lists,omitempty"`    // empty: not known yet
	Prompted bool              `json:"prompted,omitempty"` // Lists changed because another replica's had
}

var errFull = errors.New("more than 64 replicas have the store: this one is not on their roll")

func keyOf(place int) string { return name + " " + strconv.Itoa(place) }

// read returns the other replicas, and which places are free. A place that another has
// taken is not this one's any more.
func (r *Roll) read(ctx context.Context) (others []entry, free []int, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	values, err := r.values(ctx)
	if err != nil {
		return nil, nil, err
	}
	own := false
	for i, text := range values {
		var e entry
		switch {
		case text == nil:
			free = append(free, i)
		case len(text) > maxBytes || json.Unmarshal(text, &e) != nil || e.ID == "": // somebody else's
		case e.ID == r.id:
			own = i == r.place
		default:
			e.Name, e.Version = clip(e.Name), clip(e.Version)
			others = append(others, e)
		}
	}
	if !own {
		r.place, r.written = -1, false
	}
	return others, free, nil
}

func (r *Roll) values(ctx context.Context) (values [][]byte, err error) {
	keys := make([]string, places)
	for i := range keys {
		keys[i] = keyOf(i)
	}
	if many, ok := r.o.Store.(tenon.Getter); ok {
		values, err = many.GetAll(ctx, keys)
		if err == nil && len(values) != len(keys) {
			err = errors.New("the store returned another number of values than there are keys")
		}
		return values, err
	}
	values = make([][]byte, len(keys))
	for i := range keys {
		value, ok, err := r.o.Store.Get(ctx, keys[i])
		if err != nil {
			return nil, err
		}
		if ok {
			values[i] = append([]byte{}, value...)
		}
	}
	return values, nil
}

// write renews this replica's entry, or enters it in one of the free places, and calls
// the others if it says something new.
func (r *Roll) write(ctx context.Context, free []int) error {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	text, err := json.Marshal(r.self) //nolint:gosec // of the secret it has a digest
	if err != nil {
		return err
	}
	if r.place >= 0 {
		err = r.o.Store.Put(ctx, keyOf(r.place), text, life)
	} else {
		r.place, err = r.enter(ctx, free, text)
	}
	if err != nil {
		return err
	}
	if !r.written {
		r.announce(ctx)
	}
	r.written = true
	return nil
}

// enter takes the first place that nobody else takes at the same time.
func (r *Roll) enter(ctx context.Context, free []int, text []byte) (place int, err error) {
	for _, place := range free {
		ok, err := r.o.Store.PutIfAbsent(ctx, keyOf(place), text, life)
		if ok || err != nil {
			return place, err
		}
	}
	return -1, errFull
}

// announce calls the others. Who does not hear it looks at the next beat.
func (r *Roll) announce(ctx context.Context) {
	if a, ok := r.o.Store.(tenon.Announcer); ok {
		_ = a.Announce(ctx, name)
	}
}

func clip(text string) string { return text[:min(len(text), maxName)] }

// compare says which replicas differ from this one, each difference once.
func (r *Roll) compare(others []entry, now time.Time) {
	if len(r.said) > maxKnown {
		clear(r.said)
		clear(r.apart)
	}
	for i := range others {
		e := &others[i]
		differs := r.difference(e, now)
		switch differs {
		case r.said[e.ID]:
		case "":
			r.o.Say(fmt.Sprintf("the replica %q agrees with this one again", e.Name))
		default:
			r.o.Say(fmt.Sprintf("WARNING: the replica %q, which has the same store, differs from this one in %s", e.Name, differs))
		}
		r.said[e.ID] = differs
	}
}

// difference says in what another replica differs.
func (r *Roll) difference(e *entry, now time.Time) string {
	var in []string
	if e.Secret != r.self.Secret {
		in = append(in, "its secret: neither understands what the other one gave to a client")
	}
	if e.Version != r.self.Version {
		in = append(in, fmt.Sprintf("its version, %q and here %q", e.Version, r.self.Version))
	}
	if e.Secret == r.self.Secret { // else no digest is the same
		if names := differing(e.Settings, r.self.Settings); names != "" {
			in = append(in, "its settings: "+names)
		}
	}
	if e.Lists == "" || r.self.Lists == "" || e.Lists == r.self.Lists {
		delete(r.apart, e.ID)
	} else if r.apart[e.ID].IsZero() {
		r.apart[e.ID] = now
	} else if now.Sub(r.apart[e.ID]) >= lag {
		in = append(in, "the tools that it lists: its descriptions are others")
	}
	return strings.Join(in, "; and in ")
}

// differing names the settings that are not the same.
func differing(a, b map[string]string) string {
	var names []string
	for name := range a {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	more := ""
	if n := len(names) - maxShown; n > 0 {
		names, more = names[:maxShown], fmt.Sprintf(" and %d more", n)
	}
	for i := range names {
		names[i] = clip(names[i])
	}
	return strings.Join(names, ", ") + more
}
