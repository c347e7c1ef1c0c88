package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Player answers requests from exchanges. It never uses the network. It is safe for
// concurrent use.
type Player struct {
	rec *Recorder // removes from requests what was removed from the recorded ones

	mu    sync.Mutex
	at    map[place][]*played
	hosts map[string]bool
}

// played is an exchange of a Player.
type played struct {
	Exchange

	query url.Values
	body  string // canonical
	used  bool
}

// NewPlayer makes a Player of exchanges in their order.
func NewPlayer(all []Exchange) *Player {
	p := &Player{rec: &Recorder{}, at: map[place][]*played{}, hosts: map[string]bool{}}
	for _, e := range all {
		u, err := url.Parse(e.URL)
		if err != nil { // Read refuses it
			continue
		}
		at := placeOf(e.Method, u)
		p.hosts[at.host] = true
		p.at[at] = append(p.at[at], &played{Exchange: e, query: u.Query(), body: canonicalBody(e.SentType, e.Sent)})
	}
	return p
}

// Env returns an environment in which every variable is set, to what stands for it
// in a recording.
func Env(name string) (string, bool) { return standIn(name), true }

type playerKey struct{}

// With returns a context whose requests p answers instead of another Player.
func (p *Player) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, playerKey{}, p)
}

// RoundTrip answers a request with the exchange of an equal one, else with the next
// one of the same method, host and path, because some requests are signed or
// contain the time. Each is replayed once, but equal requests are answered as often
// as they are made. The error says what there is no response for, without the
// query.
func (p *Player) RoundTrip(r *http.Request) (*http.Response, error) {
	if other, ok := r.Context().Value(playerKey{}).(*Player); ok {
		p = other
	}
	sent, err := readAndClose(r)
	if err != nil {
		return nil, err
	}
	var asked Exchange
	p.rec.describeRequest(&asked, r, sent)
	e, err := p.find(&asked)
	if err != nil {
		return nil, err
	}
	return e.response(r)
}

func (p *Player) find(asked *Exchange) (*Exchange, error) {
	u, err := url.Parse(asked.URL)
	if err != nil {
		return nil, err
	}
	at, query, body := placeOf(asked.Method, u), u.Query(), canonicalBody(asked.SentType, asked.Sent)
	p.mu.Lock()
	defer p.mu.Unlock()
	var again, next *played
	for _, e := range p.at[at] {
		same := sameQuery(e.query, query) && e.body == body
		switch {
		case same && !e.used:
			e.used = true
			return &e.Exchange, nil
		case same:
			again = e
		case next == nil && !e.used:
			next = e
		}
	}
	switch {
	case again != nil:
		return &again.Exchange, nil
	case next != nil:
		next.used = true
		return &next.Exchange, nil
	case len(p.at) == 0:
		return nil, errors.New("not sent: the recording is empty")
	case !p.hosts[at.host]:
		return nil, fmt.Errorf("not sent: the recording has nothing of %s, only of %s; it is of another document or another --base-url", at.host, some(p.hosts))
	}
	return nil, fmt.Errorf("not sent: the recording has no response for %s %s%s", at.method, at.host, at.path)
}

// some names a few hosts.
func some(hosts map[string]bool) string {
	const shown = 5
	all := slices.Sorted(maps.Keys(hosts))
	text := strings.Join(all[:min(shown, len(all))], ", ")
	if len(all) > shown {
		text += " and others"
	}
	return text
}

// sameQuery compares queries without the credentials: the values of a recorded one
// are replaced, and a request that is replayed may have none.
func sameQuery(recorded, asked url.Values) bool {
	for name, values := range recorded {
		if !slices.Equal(values, asked[name]) && !slices.Equal(values, []string{placeholder}) {
			return false
		}
	}
	for name := range asked {
		if _, there := recorded[name]; !there && !secretNames[plainName(name)] {
			return false
		}
	}
	return true
}

func readAndClose(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	sent, err := io.ReadAll(io.LimitReader(r.Body, maxRecorded+1))
	if err == nil && len(sent) > maxRecorded {
		err = errTooLarge
	}
	return sent, err
}
