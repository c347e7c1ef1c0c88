package openapi

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/watch"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// recordSelectorFiles records the files of selectors.
func recordSelectorFiles(read *document.Inputs, c Selection) {
	for _, list := range [][]string{c.Include, c.Exclude} {
		for _, selector := range list {
			if name, isFile := strings.CutPrefix(selector, "@"); isFile {
				text, err := document.ReadFile(name)
				read.AddFile(name, text, err)
			}
		}
	}
}

// held returns what the last successful load read from disk and from the web.
func (s *Source) held() (files, web watch.Sums) {
	s.mu.Lock()
	read := s.inputs
	s.mu.Unlock()
	return read.Sums()
}

// Files are the files on disk that the last successful Load read, sorted.
func (s *Source) Files() []string {
	files, _ := s.held()
	return slices.Sorted(maps.Keys(files))
}

// Watch calls changed when a file of the document, an overlay or a file of
// selectors has changed. Remote files are requested every [Options].PollInterval,
// conditionally, and not at all if it is zero: what others publish must not
// change what a model sees unless the operator wants it. It logs when an
// upstream becomes unavailable and available again.
func (s *Source) Watch(ctx context.Context, changed func()) error {
	o, err := s.options.defaults()
	if err != nil {
		return err
	}
	var one sync.Mutex
	tell := func() {
		one.Lock()
		defer one.Unlock()
		changed()
	}
	polling := incident.NewGroup(o.Logger, "polling a description", 1)
	if o.PollInterval > 0 {
		polling.Go(func() { newPoller(o).poll(ctx, s, tell) }, nil)
	}
	err = watch.Files{Recorded: func() watch.Sums { files, _ := s.held(); return files }}.Watch(ctx, tell)
	polling.Wait()
	return err
}

// minPoll keeps a typing error from flooding an upstream.
const minPoll = time.Second

// poller checks whether documents from the web have changed. It is not safe for
// concurrent use.
type poller struct {
	client      *http.Client
	timeout     time.Duration // of one request
	every       time.Duration
	log         *slog.Logger // nil: nothing is logged
	versions    map[string]egress.Version
	lastSums    watch.Sums      // results of the last requests
	unavailable map[string]bool // whether the last request failed
}

func newPoller(o Options) *poller {
	return &poller{
		client: o.Client, timeout: o.Timeout, every: max(o.PollInterval, minPoll), log: o.Logger,
		versions: map[string]egress.Version{}, lastSums: watch.Sums{}, unavailable: map[string]bool{},
	}
}

// poll requests everything that s has read from the web, until ctx ends. Failed
// requests count as unchanged.
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
			differs = differs || ok && now != sum && now != p.lastSums[at]
			if ok {
				p.lastSums[at] = now
			}
		}
		if differs && ctx.Err() == nil {
			changed()
		}
	}
}

// refetch reads an address unless the upstream says that it has not changed; ok
// reports whether it was read.
func (p *poller) refetch(ctx context.Context, at string, held watch.Sum) (sum watch.Sum, ok bool) {
	asked, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	text, version, err := egress.Refetch(asked, p.client, at, document.MaxSize, p.versions[at])
	if ctx.Err() != nil {
		return watch.Sum{}, false
	}
	p.logAvailability(at, held, err)
	if err != nil {
		return watch.Sum{}, false
	}
	p.versions[at] = version
	return watch.SumOf(text), text != nil
}

// logAvailability logs when an address becomes unavailable and when it is available again.
// Both are warnings, so that one level shows both. An address that was
// unavailable at the start was reported then.
func (p *poller) logAvailability(at string, held watch.Sum, err error) {
	was, known := p.unavailable[at]
	if !known {
		was = held == watch.Sum{}
	}
	p.unavailable[at] = err != nil
	u, bad := url.Parse(at)
	if p.log == nil || bad != nil || was == (err != nil) {
		return
	}
	if err != nil {
		// The error contains only the host of the address.
		p.log.Warn("cannot read a remote description; its tools are unchanged", "host", u.Host, "every", p.every, "error", err)
		return
	}
	p.log.Warn("a remote description is available again", "host", u.Host)
}
