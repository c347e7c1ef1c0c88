package openapi

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// page is a request for one page of a list.
type page struct {
	args []byte
	link *url.URL // URL of the page; nil: the one that the arguments make
}

// pages is a list that is combined from several responses.
type pages struct {
	op     *operation
	call   *tenon.Call
	read   int
	items  []byte // of all pages, with commas between them
	count  int
	seen   map[[sha256.Size]byte]bool // hashes of the items of pages and of page requests
	last   listing
	res    egress.Response // the last successful one
	method pagingMethod
	why    string // why a further page was not read; empty: there is none
	// unknown: the response does not say whether there are more.
	unknown bool
}

// isFirstPage reports whether a response may be the first page of a list to follow.
// It does not follow where the caller selects a page.
func (o *operation) isFirstPage(res egress.Response) bool {
	return o.api.options.FollowPages > 1 && o.safe && o.method == http.MethodGet && isPage(res)
}

// reportUncountable reports arguments that are named like page numbers but are not
// integers, so that pages cannot be followed by them.
func (p *plan) reportUncountable(o *operation) {
	if o.api.options.FollowPages <= 1 || !o.safe || o.method != http.MethodGet {
		return
	}
	for i := range p.params {
		q := &p.params[i]
		name := normalizeName(q.name)
		if q.in == encode.InQuery && !q.hidden && (isOffset(name) || isPageNumber(name)) && notTime(o, q) && !isInteger(o, q) {
			p.addDiagnostic(o, q.node, "pages are not followed by argument "+q.arg+": its schema does not require an integer")
		}
	}
}

func isPage(res egress.Response) bool {
	return res.Status >= 200 && res.Status <= 299 && encode.IsJSON(encode.MediaType(mediaOf(res))) && len(res.Body) > 0
}

// followPages reads the pages after the first one, up to the operator's limit, and
// returns them as one response: the last page with the items of all. An error
// ends the list and keeps what was read.
func (o *operation) followPages(ctx context.Context, c *tenon.Call, first egress.Response) (egress.Response, []byte) {
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
		if p.why = p.stopReason(next); p.why != "" {
			break
		}
		var got exchangeResult
		err := o.exchange(ctx, c, *next, func(req *http.Request) (egress.Response, error) { return o.send(c, req) }, &got)
		res := got.Response
		if err != nil || !isPage(res) {
			p.why = p.failureReason(res, err)
			break
		}
		if !p.add(res) {
			break
		}
		at = *next
	}
	if names := o.selectsPage(c.Args); p.why == "" && !names {
		p.why = p.unreadReason()
	} else if names && p.unknown {
		p.why = ""
	}
	if p.read == 1 && p.why == "" {
		return first, nil
	}
	return p.joined(), p.meta()
}

// stopReason says why a page is not requested; empty: it is.
func (p *pages) stopReason(next *page) string {
	switch most, limit := p.op.api.options.FollowPages, p.op.maxItems(p.last.path); {
	case p.op.selectsPage(p.call.Args):
		return "the call selects a page"
	case p.read >= most:
		return "the operator's limit of pages is reached"
	case limit >= 0 && p.count+p.last.count > limit:
		return "the schema's maxItems is reached"
	}
	key := append([]byte("request "), next.args...)
	if next.link != nil {
		key = append(key, next.link.String()...)
	}
	if !p.isNew(key) {
		return "the upstream links to a page that was already read"
	}
	return ""
}

// isNew reports whether a text is new, and records it.
func (p *pages) isNew(text []byte) bool {
	key := sha256.Sum256(text)
	if p.seen[key] {
		return false
	}
	p.seen[key] = true
	return true
}

func (p *pages) failureReason(res egress.Response, err error) string {
	if err != nil {
		return "reading the next page failed"
	}
	if res.Status >= 200 && res.Status <= 299 {
		return "the next page is not JSON"
	}
	return "the upstream responded to the request for the next page with status " + strconv.Itoa(res.Status)
}

// add adds a page; false: it has no items to add, and the list ends.
func (p *pages) add(res egress.Response) bool {
	l, ok := readListing(res, p.last.path, p.read > 0)
	if !ok {
		if p.read > 0 {
			p.why = "the next page has no list at the same place"
		}
		return false
	}
	items := l.items()
	lead := (&pages{op: p.op, last: l, res: res}).nextReference()
	switch {
	case p.read > 0 && l.count == 0 && p.method == byNumber:
		p.keep(l, res)
		return false
	case !p.isNew(append([]byte(lead+"\n"), items...)): // two pages may have equal items but different next pages
		p.why = "the upstream sent the same page again"
		return false
	case p.read > 0 && int64(len(p.items)+len(items)) > p.op.api.options.MaxResponse:
		p.why = "the list would exceed the size limit of a response"
		return false
	case p.read > 0 && p.op.maxItems(l.path) >= 0 && p.count+l.count > p.op.maxItems(l.path):
		p.why = "the schema's maxItems is reached"
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

// nextReference returns the link or cursor of the next page, or "".
func (p *pages) nextReference() string {
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

// joined returns the last response with the items of all pages.
func (p *pages) joined() egress.Response {
	res := p.res
	res.Body = p.last.with(p.items)
	return res
}

// meta returns the _meta of the pages; more is null where it is unknown.
func (p *pages) meta() []byte {
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

// withoutCredentials removes credentials from the query of a link: some
// upstreams echo them, and they are added again.
func (o *operation) withoutCredentials(link *url.URL) *url.URL {
	u := *link
	var kept []string
	for pair := range strings.SplitSeq(link.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err != nil || !o.planned().requirement.inQuery(name) {
			kept = append(kept, pair)
		}
	}
	u.RawQuery = strings.Join(kept, "&")
	return &u
}

// inQuery reports whether a query parameter is a credential.
func (d requirement) inQuery(name string) bool {
	for _, together := range d {
		for _, one := range together {
			if one.place == encode.InQuery && sameName(one.wire, name) {
				return true
			}
		}
	}
	return false
}

// listNames are the usual names of lists, normalized by normalizeName, by
// precedence.
func listNames() []string {
	return []string{"items", "data", "results", "records", "entries", "values", "value", "list", "rows", "hits", "content", "elements", "objects"}
}

// listing is the list in a response: its body or one of its members.
type listing struct {
	doc   *rawjson.Doc
	list  rawjson.Node
	path  []string // members that lead to the list; empty: the body is the list
	count int
}

// readListing finds the list of a response: at the same path as in the previous
// page, else in a member with a usual name, else the only array.
func readListing(res egress.Response, path []string, again bool) (listing, bool) {
	doc, err := rawjson.Parse(rawjson.WithoutMark(res.Body))
	if err != nil {
		return listing{}, false
	}
	l := listing{doc: doc, list: doc.Root(), path: path}
	if !again && doc.Kind(doc.Root()) == rawjson.Object {
		l.path = listPath(doc)
	}
	for _, member := range l.path {
		l.list = doc.Get(l.list, member)
	}
	l.count = doc.Len(l.list)
	return l, doc.Kind(l.list) == rawjson.Array
}

// listPath returns the path to the list of a response that is an object. HAL
// puts lists into the member _embedded.
func listPath(doc *rawjson.Doc) []string {
	if name := listMember(doc, doc.Root()); name != "" {
		return []string{name}
	}
	const embedded = "_embedded"
	if name := listMember(doc, doc.Get(doc.Root(), embedded)); name != "" {
		return []string{embedded, name}
	}
	return nil
}

// listMember returns the name of the member of at that is the list; empty:
// unclear.
func listMember(doc *rawjson.Doc, at rawjson.Node) string {
	var arrays []string
	best, rank := "", len(listNames())
	for n := doc.First(at); n != rawjson.None; n = doc.Next(n) {
		if doc.Kind(n) != rawjson.Array {
			continue
		}
		name := doc.Key(n)
		arrays = append(arrays, name)
		if i := slices.Index(listNames(), normalizeName(name)); i >= 0 && i < rank {
			best, rank = name, i
		}
	}
	if best == "" && len(arrays) == 1 {
		return arrays[0]
	}
	return best
}

// items returns the JSON text of the items.
func (l *listing) items() []byte {
	raw := l.doc.Raw(l.list)
	if len(raw) < len("[]") {
		return nil
	}
	return []byte(strings.TrimSpace(string(raw[1 : len(raw)-1])))
}

// visitPageInfo visits the pagination data of a response: members of the body and of
// the usual holders, two levels deep. It ends when visit returns false.
func (l *listing) visitPageInfo(visit func(name string, n rawjson.Node) bool) {
	if len(l.path) == 0 {
		return
	}
	var level func(n rawjson.Node, deep int) bool
	level = func(at rawjson.Node, deep int) bool {
		for n := l.doc.First(at); n != rawjson.None; n = l.doc.Next(n) {
			name := normalizeName(l.doc.Key(n))
			if n == l.list {
				continue
			}
			if !visit(name, n) {
				return false
			}
			if deep < 2 && l.doc.Kind(n) == rawjson.Object && isPageInfo(name) && !level(n, deep+1) {
				return false
			}
		}
		return true
	}
	level(l.doc.Root(), 0)
}

// number returns the pagination number with one of the names.
func (l *listing) number(names ...string) (value int, ok bool) {
	l.visitPageInfo(func(name string, n rawjson.Node) bool {
		if l.doc.Kind(n) == rawjson.Number && slices.Contains(names, name) {
			i, err := strconv.Atoi(string(l.doc.Raw(n)))
			value, ok = i, err == nil
		}
		return !ok
	})
	return value, ok
}

// isLastPage reports whether the response says that this is the last page.
func (l *listing) isLastPage() (ends bool) {
	l.visitPageInfo(func(name string, n rawjson.Node) bool {
		switch {
		case isMoreFlag(name):
			ends = l.doc.Kind(n) == rawjson.Bool && !l.doc.IsTrue(n)
		case name == "last", name == "islast", name == "lastpage":
			ends = l.doc.IsTrue(n)
		}
		return !ends
	})
	return ends
}

// hasMore reports whether the response says that there are more items.
func (l *listing) hasMore() (more bool) {
	l.visitPageInfo(func(name string, n rawjson.Node) bool {
		more = isMoreFlag(name) && l.doc.IsTrue(n)
		return !more
	})
	return more
}

func isMoreFlag(name string) bool {
	return slices.Contains([]string{"hasmore", "hasnext", "hasnextpage", "more"}, name)
}

// lastID returns the id of the last item, or "".
func (l *listing) lastID() string {
	last := rawjson.None
	for n := l.doc.First(l.list); n != rawjson.None; n = l.doc.Next(n) {
		last = n
	}
	id := l.doc.Get(last, "id")
	switch l.doc.Kind(id) {
	case rawjson.String:
		return l.doc.Str(id)
	case rawjson.Number:
		return string(l.doc.Raw(id))
	default:
		return ""
	}
}

// with returns the body with its items replaced.
func (l *listing) with(items []byte) []byte {
	raw := l.doc.Raw(l.doc.Root())
	list := l.doc.Raw(l.list)
	at := l.doc.Offset(l.list) - l.doc.Offset(l.doc.Root())
	body := append(make([]byte, 0, len(raw)+len(items)), raw[:at]...)
	body = append(append(append(body, '['), items...), ']')
	return append(body, raw[at+len(list):]...)
}

// maxItems returns the declared maxItems of the list, or -1.
func (o *operation) maxItems(path []string) int {
	for _, a := range o.responses(func(document.Value, string) {}) {
		if a.status[0] != '2' || !a.schema.OK() {
			continue
		}
		s, err := o.api.doc.Deref(a.schema)
		for _, member := range path {
			if err == nil {
				s, err = o.api.doc.Deref(s.Get("properties").Get(member))
			}
		}
		if n, bad := strconv.Atoi(string(s.Get("maxItems").Raw())); err == nil && bad == nil {
			return n
		}
	}
	return -1
}
