package openapi

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// The names by which lists are known, without signs and in lower case. What is
// not named so is not guessed at.
func listNames() []string {
	return []string{"items", "data", "results", "records", "entries", "values", "value", "list", "rows", "hits", "content", "elements", "objects"}
}

func isLimit(name string) bool {
	return slices.Contains([]string{"limit", "perpage", "pagesize", "size", "top", "maxresults", "pagelimit", "take", "resultsperpage"}, name)
}

func isOffset(name string) bool {
	return slices.Contains([]string{"offset", "skip", "start", "startindex", "pageoffset", "startat"}, name)
}

func isPageNumber(name string) bool {
	return slices.Contains([]string{"page", "pagenumber", "pageno", "pagenum", "pageindex", "currentpage"}, name)
}

func isCursor(name string) bool {
	return slices.Contains([]string{
		"cursor", "pagetoken", "nexttoken", "nextpagetoken", "continuationtoken", "continuation", "continue", "marker", "after", "nextcursor", "pagecursor", "startcursor", "pageafter", "scrollid", "bookmark",
	}, name)
}

// isNextCursor tells the members whose value is the cursor of the next page.
func isNextCursor(name string) bool {
	return slices.Contains([]string{
		"nextcursor", "nextpagetoken", "nexttoken", "continuationtoken", "continuation", "continue", "nextmarker", "endcursor", "cursor", "after", "next", "nextpagecursor", "scrollid", "bookmark",
	}, name)
}

func isNextLink(name string) bool {
	return slices.Contains([]string{"next", "nexturl", "nextlink", "odatanextlink", "nextpageurl", "nextpage", "nexthref", "nexturi"}, name)
}

// isHolder tells the members beside a list that hold what is said about pages.
func isHolder(name string) bool {
	return slices.Contains([]string{"meta", "metadata", "paging", "pagination", "pageinfo", "page", "links", "cursors", "responsemetadata", "search"}, name)
}

// plainWord is a name without signs, in lower case.
func plainWord(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", "$", "", "@", "", "[", "", "]", "").Replace(name))
}

// listing is an answer that holds a list: the answer itself or one of its
// members.
type listing struct {
	doc    *rawjson.Doc
	list   rawjson.Node
	member string // empty: the answer is the list
	count  int
}

// readListing finds the list of an answer: in the same member as before where
// there was a page before, else the member of a usual name, else the only one.
func readListing(res egress.Response, member string, again bool) (listing, bool) {
	doc, err := rawjson.Parse(res.Body)
	if err != nil {
		return listing{}, false
	}
	l := listing{doc: doc, list: doc.Root()}
	switch {
	case doc.Kind(doc.Root()) == rawjson.Object && (!again || member != ""):
		if l.member = member; !again {
			l.member = listMember(doc)
		}
		l.list = doc.Get(doc.Root(), l.member)
		if l.member == "" {
			return listing{}, false
		}
	case again && member != "":
		return listing{}, false
	}
	l.count = doc.Len(l.list)
	return l, doc.Kind(l.list) == rawjson.Array
}

func listMember(doc *rawjson.Doc) string {
	var arrays []string
	best, rank := "", len(listNames())
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		if doc.Kind(n) != rawjson.Array {
			continue
		}
		name := doc.Key(n)
		arrays = append(arrays, name)
		if i := slices.Index(listNames(), plainWord(name)); i >= 0 && i < rank {
			best, rank = name, i
		}
	}
	if best == "" && len(arrays) == 1 {
		return arrays[0]
	}
	return best
}

// items is what stands between the brackets of the list.
func (l *listing) items() []byte {
	raw := l.doc.Raw(l.list)
	if len(raw) < len("[]") {
		return nil
	}
	return []byte(strings.TrimSpace(string(raw[1 : len(raw)-1])))
}

// about goes over what an answer says of its pages: members of the answer and
// of the usual holders, two levels deep. It ends when visit returns false.
func (l *listing) about(visit func(name string, n rawjson.Node) bool) {
	if l.member == "" {
		return
	}
	var level func(n rawjson.Node, deep int) bool
	level = func(at rawjson.Node, deep int) bool {
		for n := l.doc.First(at); n != rawjson.None; n = l.doc.Next(n) {
			name := plainWord(l.doc.Key(n))
			if n == l.list {
				continue
			}
			if !visit(name, n) {
				return false
			}
			if deep < 2 && l.doc.Kind(n) == rawjson.Object && isHolder(name) && !level(n, deep+1) {
				return false
			}
		}
		return true
	}
	level(l.doc.Root(), 0)
}

// number is what the answer says of its pages under one of the names.
func (l *listing) number(names ...string) (value int, ok bool) {
	l.about(func(name string, n rawjson.Node) bool {
		if l.doc.Kind(n) == rawjson.Number && slices.Contains(names, name) {
			i, err := strconv.Atoi(string(l.doc.Raw(n)))
			value, ok = i, err == nil
		}
		return !ok
	})
	return value, ok
}

// ends tells whether the answer says itself that nothing follows.
func (l *listing) ends() (ends bool) {
	l.about(func(name string, n rawjson.Node) bool {
		switch name {
		case "hasmore", "hasnext", "hasnextpage", "more":
			ends = l.doc.Kind(n) == rawjson.Bool && !l.doc.IsTrue(n)
		case "last", "islast", "lastpage":
			ends = l.doc.IsTrue(n)
		}
		return !ends
	})
	return ends
}

// next finds the request for the page behind the last one; nil without a
// reason: there is none.
func (p *pages) next(ctx context.Context, at page) (next *page, why string) {
	if p.last.ends() {
		return nil, ""
	}
	if link := p.link(); link != "" {
		req, err := p.op.planned().request(ctx, p.op.method, p.call.Args)
		if err != nil {
			return nil, "the next page cannot be asked for"
		}
		from := req.URL
		if at.link != nil {
			from = at.link
		}
		to := resolved(from, link)
		if to == nil || !sameOrigin(to, req.URL) {
			return nil, "the next page is at another origin"
		}
		return &page{args: p.call.Args, link: to}, ""
	}
	if cursor, q := p.cursor(); q != nil {
		if cursor == "" {
			return nil, ""
		}
		return &page{args: withArgument(at.args, q, cursor)}, ""
	}
	return p.byNumber(at), ""
}

// link is where the header or a member of the answer says that the next page
// is.
func (p *pages) link() string {
	if link := nextLink(p.res.Header.Values("Link")); link != "" {
		return link
	}
	doc, found := p.last.doc, ""
	p.last.about(func(name string, n rawjson.Node) bool {
		if !isNextLink(name) {
			return true
		}
		if doc.Kind(n) == rawjson.Object {
			n = doc.Get(n, "href")
		}
		if text := doc.Str(n); strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "?") {
			found = text
		}
		return found == ""
	})
	return found
}

// cursor is the operation's parameter for a cursor, and what the answer gives
// for it; empty: the list ends. nil: pages are not found by cursors here.
func (p *pages) cursor() (value string, q *parameter) {
	if q = p.op.pageParameter(isCursor); q == nil {
		return "", nil
	}
	known := false
	p.last.about(func(name string, n rawjson.Node) bool {
		if !isNextCursor(name) {
			return true
		}
		switch kind := p.last.doc.Kind(n); kind {
		case rawjson.String:
			value, known = p.last.doc.Str(n), true
		case rawjson.Number:
			value, known = string(p.last.doc.Raw(n)), true
		default:
			known = known || kind == rawjson.Null
		}
		return value == ""
	})
	if !known {
		return "", nil
	}
	return value, q
}

// byNumber is the next page where the operation counts pages or items.
func (p *pages) byNumber(at page) *page {
	if total, ok := p.last.number("total", "totalcount", "totalitems", "totalresults", "totalelements", "totalrecords"); ok && p.count >= total {
		return nil
	}
	if limit := p.op.pageParameter(isLimit); p.last.count == 0 || limit != nil && p.last.count < numberOf(at.args, limit, 0) {
		return nil
	}
	if q := p.op.pageParameter(isOffset); q != nil {
		return &page{args: withArgument(at.args, q, strconv.Itoa(numberOf(at.args, q, 0)+p.last.count))}
	}
	q := p.op.pageParameter(isPageNumber)
	if q == nil {
		return nil
	}
	first := 1
	if string(q.schema.get("minimum").raw()) == "0" {
		first = 0
	}
	now := numberOf(at.args, q, first)
	if all, ok := p.last.number("totalpages", "pages", "pagecount", "lastpage", "numpages"); ok && now-first+1 >= all {
		return nil
	}
	return &page{args: withArgument(at.args, q, strconv.Itoa(now+1))}
}

// pageParameter is the operation's parameter in the query whose name is one of
// those; nil: there is none.
func (o *operation) pageParameter(is func(name string) bool) *parameter {
	params := o.planned().params
	for i := range params {
		if params[i].in == inQuery && is(plainWord(params[i].name)) {
			return &params[i]
		}
	}
	return nil
}

// namesPage tells whether the caller said which page it wants.
func (o *operation) namesPage(args []byte) bool {
	doc, err := rawjson.Parse(args)
	if err != nil {
		return false
	}
	for _, is := range []func(string) bool{isCursor, isOffset, isPageNumber} {
		if q := o.pageParameter(is); q != nil && (argument{doc, doc.Get(doc.Root(), q.arg)}).given() {
			return true
		}
	}
	return false
}

// numberOf is the number that a parameter has: of the arguments, by default, or
// otherwise.
func numberOf(args []byte, q *parameter, otherwise int) int {
	if doc, err := rawjson.Parse(args); err == nil {
		v := argument{doc, doc.Get(doc.Root(), q.arg)}
		if n, err := strconv.Atoi(string(v.scalar())); v.given() && err == nil {
			return n
		}
	}
	if n, err := strconv.Atoi(string(q.schema.get("default").raw())); err == nil {
		return n
	}
	return otherwise
}

// withArgument is an object of arguments with one of them set.
func withArgument(args []byte, q *parameter, value string) []byte {
	b := []byte{'{'}
	if doc, err := rawjson.Parse(args); err == nil {
		for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
			if doc.Key(n) != q.arg {
				b = append(append(append(rawjson.AppendString(b, doc.Key(n)), ':'), doc.Raw(n)...), ',')
			}
		}
	}
	b = append(rawjson.AppendString(b, q.arg), ':')
	return append(rawjson.AppendString(b, value), '}')
}

// maxItems is the bound that the operation's answers set for the list; -1:
// none.
func (o *operation) maxItems(member string) int {
	for _, a := range o.answers(func(value, string) {}) {
		if a.status[0] != '2' || !a.schema.ok() {
			continue
		}
		s, err := o.api.doc.deref(a.schema)
		if member != "" && err == nil {
			s, err = o.api.doc.deref(s.get("properties").get(member))
		}
		if n, bad := strconv.Atoi(string(s.get("maxItems").raw())); err == nil && bad == nil {
			return n
		}
	}
	return -1
}
