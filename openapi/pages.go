package openapi

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// page is a request for one page of a list.
type page struct {
	args []byte
	link *url.URL // where the page is; nil: where the arguments lead
}

// pages is a list that is put together of several answers.
type pages struct {
	op    *operation
	call  *tenon.Call
	read  int
	items []byte // of all pages, with commas between them
	count int
	seen  map[[sha256.Size]byte]bool // items of pages, and requests for them
	last  listing
	res   egress.Response // the last good one
	way   way
	why   string // there is more and it was not read
	// unknown tells that there may be more: nothing says so or otherwise.
	unknown bool
}

// follows tells whether an answer may be the first page of a list that is to
// be followed. A caller who names a page wants that one.
func (o *operation) follows(res egress.Response) bool {
	return o.api.options.FollowPages > 1 && o.safe && o.method == http.MethodGet && goodPage(res)
}

// tellUncounted says of which arguments it is known beforehand that pages are not
// counted by them, though their names say that they count.
func (p *plan) tellUncounted(o *operation) {
	if o.api.options.FollowPages <= 1 || !o.safe || o.method != http.MethodGet {
		return
	}
	for i := range p.params {
		q := &p.params[i]
		name := plainWord(q.name)
		if q.in == inQuery && !q.hidden && (isOffset(name) || isPageNumber(name)) && notTime(o, q) && !isInteger(o, q) {
			p.fault(o, q.node, "pages are not followed by argument "+q.arg+": its schema does not say that it is an integer")
		}
	}
}

func goodPage(res egress.Response) bool {
	return res.Status >= 200 && res.Status <= 299 && isJSON(mediaType(mediaOf(res))) && len(res.Body) > 0
}

// follow reads the pages behind the first one, up to the bound that the
// operator set, and returns them as one answer: the last page with the items of
// all. What keeps it from going on never costs what was read.
func (o *operation) follow(ctx context.Context, c *tenon.Call, first egress.Response) (egress.Response, []byte) {
	p := &pages{op: o, call: c, seen: map[[sha256.Size]byte]bool{}}
	at := page{args: c.Args}
	if !p.add(first) {
		return first, nil
	}
	for {
		next, why := p.next(ctx, at)
		if next == nil {
			p.why = why
			break
		}
		if p.why = p.stop(next); p.why != "" {
			break
		}
		var got exchanged
		err := o.exchange(ctx, c, *next, func(req *http.Request) (egress.Response, error) { return o.send(c, req) }, &got)
		res := got.Response
		if err != nil || !goodPage(res) {
			p.why = p.failed(res, err)
			break
		}
		if !p.add(res) {
			break
		}
		at = *next
	}
	if names := o.namesPage(c.Args); p.why == "" && !names {
		p.why = p.left()
	} else if names && p.unknown {
		p.why = ""
	}
	if p.read == 1 && p.why == "" {
		return first, nil
	}
	return p.joined(), p.told()
}

// stop says why a page is not asked for; empty: it is.
func (p *pages) stop(next *page) string {
	switch most, limit := p.op.api.options.FollowPages, p.op.maxItems(p.last.path); {
	case p.op.namesPage(p.call.Args):
		return "the call names the page that it wants"
	case p.read >= most:
		return "as many pages as the operator allows were read"
	case limit >= 0 && p.count+p.last.count > limit:
		return "the schema allows no more items in one list"
	}
	key := append([]byte("request "), next.args...)
	if next.link != nil {
		key = append(key, next.link.String()...)
	}
	if !p.first(key) {
		return "the upstream leads in a circle"
	}
	return ""
}

// first reports whether something was not there yet, and remembers it.
func (p *pages) first(text []byte) bool {
	key := sha256.Sum256(text)
	if p.seen[key] {
		return false
	}
	p.seen[key] = true
	return true
}

func (p *pages) failed(res egress.Response, err error) string {
	if err != nil {
		return "the next page could not be read"
	}
	if res.Status >= 200 && res.Status <= 299 {
		return "the next page is no JSON"
	}
	return "the next page was answered with status " + strconv.Itoa(res.Status)
}

// add takes a page in; false: it adds nothing, and the list ends.
func (p *pages) add(res egress.Response) bool {
	l, ok := readListing(res, p.last.path, p.read > 0)
	if !ok {
		if p.read > 0 {
			p.why = "the next page has no such list"
		}
		return false
	}
	items := l.items()
	lead := (&pages{op: p.op, last: l, res: res}).lead()
	switch {
	case p.read > 0 && l.count == 0 && p.way == byNumber:
		p.keep(l, res)
		return false
	case !p.first(append([]byte(lead+"\n"), items...)): // two pages may have the same items, and then lead to different ones
		p.why = "the upstream sent the same page again"
		return false
	case p.read > 0 && int64(len(p.items)+len(items)) > p.op.api.options.MaxAnswer:
		p.why = "the list would be larger than an answer may be"
		return false
	case p.read > 0 && p.op.maxItems(l.path) >= 0 && p.count+l.count > p.op.maxItems(l.path):
		p.why = "the schema allows no more items in one list"
		return false
	}
	if p.count > 0 && l.count > 0 {
		p.items = append(p.items, ',')
	}
	p.items = append(p.items, items...)
	p.count += l.count
	p.keep(l, res)
	return true
}

// lead is where the page says that the next one is; empty: it does not.
func (p *pages) lead() string {
	if link := p.link(); link != "" {
		return link
	}
	cursor, _ := p.cursor()
	return cursor
}

func (p *pages) keep(l listing, res egress.Response) {
	p.read++
	p.last, p.res = l, res
}

// joined is the last answer with the items of all.
func (p *pages) joined() egress.Response {
	res := p.res
	res.Body = p.last.with(p.items)
	return res
}

// told is what _meta says of the pages; more is null where nothing says whether
// there are more.
func (p *pages) told() []byte {
	b := fmt.Appendf(nil, `{"tenon/pages":{"read":%d,"items":%d`, p.read, p.count)
	switch {
	case p.why == "":
		return append(b, `,"more":false}}`...)
	case p.unknown:
		b = append(b, `,"more":null`...)
	default:
		b = append(b, `,"more":true`...)
	}
	return append(rawjson.AppendString(append(b, `,"why":`...), p.why), "}}"...)
}

// withoutCredentials is a link without those that are put into queries: some
// upstreams send theirs back, and it is put there anew.
func (o *operation) withoutCredentials(link *url.URL) *url.URL {
	u := *link
	var kept []string
	for pair := range strings.SplitSeq(link.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err != nil || !o.planned().demand.inQuery(name) {
			kept = append(kept, pair)
		}
	}
	u.RawQuery = strings.Join(kept, "&")
	return &u
}

// inQuery tells the names under which credentials stand in queries.
func (d demand) inQuery(name string) bool {
	for _, together := range d {
		for _, one := range together {
			if one.place == inQuery && sameName(one.wire, name) {
				return true
			}
		}
	}
	return false
}
