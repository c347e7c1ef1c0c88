package openapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// minPoll keeps a slip of the pen from flooding an upstream.
const minPoll = time.Second

// poller asks whether what was read from the web is still what its upstreams
// have. It is not safe for concurrent use.
type poller struct {
	client   *http.Client
	timeout  time.Duration // of one question
	every    time.Duration
	log      *slog.Logger // nil: nothing is said
	versions map[string]egress.Version
	told     watch.Held      // what the last answers were
	silent   map[string]bool // whether the last question had no answer
}

func newPoller(o Options) *poller {
	return &poller{
		client: o.Client, timeout: o.Timeout, every: max(o.Poll, minPoll), log: o.Logger,
		versions: map[string]egress.Version{}, told: watch.Held{}, silent: map[string]bool{},
	}
}

// poll asks for everything that s has read from the web, again and again until
// ctx ends. What cannot be read now is as it was.
func (p *poller) poll(ctx context.Context, s *Source, changed func()) {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_, web := s.held()
		differs := false
		for at, sum := range web {
			now, ok := p.refetch(ctx, at, sum)
			differs = differs || ok && now != sum && now != p.told[at]
			if ok {
				p.told[at] = now
			}
		}
		if differs && ctx.Err() == nil {
			changed()
		}
	}
}

// refetch reads an address, which held before, unless its upstream says that
// nothing has changed; ok says whether the sum is of anything new.
func (p *poller) refetch(ctx context.Context, at string, held watch.Sum) (sum watch.Sum, ok bool) {
	asked, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	text, version, err := egress.Refetch(asked, p.client, at, maxDocument, p.versions[at])
	if ctx.Err() != nil {
		return watch.Sum{}, false
	}
	p.tell(at, held, err)
	if err != nil {
		return watch.Sum{}, false
	}
	p.versions[at] = version
	return watch.SumOf(text), text != nil
}

// tell logs when an address stops to answer and when it answers again, and
// nothing in between. Both are warnings: who was told the first is to hear the
// second. An address that could not be read at the start was reported there.
func (p *poller) tell(at string, held watch.Sum, err error) {
	was, known := p.silent[at]
	if !known {
		was = held == watch.Sum{}
	}
	p.silent[at] = err != nil
	u, bad := url.Parse(at)
	if p.log == nil || bad != nil || was == (err != nil) {
		return
	}
	if err != nil {
		// The error names no more of the address than its host.
		p.log.Warn("a description in the web cannot be read any more; its tools stay as they are", "host", u.Host, "every", p.every, "error", err)
		return
	}
	p.log.Warn("a description in the web can be read again", "host", u.Host)
}
