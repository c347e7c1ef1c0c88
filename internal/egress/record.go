package egress

import (
	"context"
	"net/http"
)

// Record sends a request by next and may look at both the request and the response,
// whose body is decoded. What it returns is the response.
type Record func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error)

// Replay returns the response to a request. The text of its errors is shown to
// callers.
type Replay func(*http.Request) (*http.Response, error)

// maxRecordedBody bounds a body that is decoded for Record, in bytes; what reads it
// has a limit of its own.
const maxRecordedBody = 1 << 30

type descriptionKey struct{}

// ofDescription returns a context for requests that read descriptions: they are
// neither recorded nor replayed.
func ofDescription(ctx context.Context) context.Context {
	return context.WithValue(ctx, descriptionKey{}, true)
}

// exchange sends r, or has it answered.
func (d *transport) exchange(r *http.Request) (*http.Response, error) {
	if d.record == nil && d.replay == nil || r.Context().Value(descriptionKey{}) != nil {
		return d.network(r)
	}
	if d.replay != nil {
		answer, err := d.replay(r)
		if err != nil {
			return nil, forbid(err.Error())
		}
		return answer, nil
	}
	return d.record(r, func(r *http.Request) (*http.Response, error) {
		answer, err := d.network(r)
		if err == nil && r.Method != http.MethodHead && r.Header.Get("Range") == "" {
			d.open(answer, maxRecordedBody)
		}
		return answer, err
	})
}
