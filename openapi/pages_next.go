package openapi

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/convert"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
	"github.com/tenon-mcp/tenon/schema"
)

// pagingMethod is how the next page is found. The first way that works is used for the
// whole list.
type pagingMethod uint8

const (
	unknownPaging pagingMethod = iota
	byLink
	byCursor
	byItem
	byNumber
)

// next returns the request for the next page. Without one, why is the reason;
// empty: the list is complete, or nothing is known about more.
func (p *pages) next(ctx context.Context, at page) (next *page, why string) {
	if p.last.isLastPage() {
		return nil, ""
	}
	if p.method == unknownPaging || p.method == byLink {
		if link := p.link(); link != "" {
			p.method = byLink
			return p.linked(ctx, at, link)
		}
	}
	if p.method == unknownPaging || p.method == byCursor {
		if cursor, q := p.cursor(); q != nil && cursor != "" {
			p.method = byCursor
			return p.withArgument(at, q, cursor)
		}
	}
	if p.method == byLink || p.method == byCursor || p.hasEmptyNext() {
		return nil, ""
	}
	if id, q := p.itemCursor(); q != nil {
		p.method = byItem
		return p.withArgument(at, q, id)
	}
	if p.method == byItem {
		return nil, ""
	}
	return p.numbered(at)
}

// linked returns the page behind a link.
func (p *pages) linked(ctx context.Context, at page, link string) (next *page, why string) {
	req, err := p.op.planned().request(ctx, p.op.method, p.call.Args)
	if err != nil {
		return nil, "the next page cannot be requested"
	}
	from := req.URL
	if at.link != nil {
		from = at.link
	}
	to := resolved(from, link)
	if to == nil || !document.SameOrigin(to, req.URL) {
		return nil, "the next page is at another origin"
	}
	return &page{args: p.call.Args, link: to}, ""
}

// withArgument returns the page that an argument selects. The value comes from the
// upstream, so it is validated like an argument of a caller.
func (p *pages) withArgument(at page, q *parameter, text string) (next *page, why string) {
	s := p.op.schemaOf(q)
	for _, value := range [][]byte{rawjson.AppendString(nil, text), []byte(text)} {
		if s != nil && rawjson.Check(value) == nil && len(s.Validate(value)) == 0 {
			return &page{args: withArgument(at.args, q, value)}, ""
		}
	}
	return nil, "the upstream's value for the next page is not valid for argument " + q.arg
}

// link returns the next page's link from the Link header or a member of the
// response.
func (p *pages) link() string {
	if link := nextLink(p.res.Header.Values("Link")); link != "" {
		return link
	}
	doc, found := p.last.doc, ""
	p.last.visitPageInfo(func(name string, n rawjson.Node) bool {
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

// hasEmptyNext reports whether the response has a member or header for the next
// page that is empty.
func (p *pages) hasEmptyNext() (none bool) {
	doc := p.last.doc
	p.last.visitPageInfo(func(name string, n rawjson.Node) bool {
		if isNextLink(name) || isNextCursor(name) || name == "nextoffset" {
			if doc.Kind(n) == rawjson.Object && doc.Get(n, "href") != rawjson.None {
				n = doc.Get(n, "href")
			}
			switch doc.Kind(n) {
			case rawjson.Null:
				none = true
			case rawjson.Bool:
				none = !doc.IsTrue(n)
			case rawjson.String:
				none = doc.Str(n) == ""
			default:
			}
		}
		return !none
	})
	return none || endsLinks(p.res.Header.Values("Link"))
}

// cursor returns the operation's cursor parameter and its value for the next
// page; nil: the operation has none.
func (p *pages) cursor() (value string, q *parameter) {
	if q = p.op.pageParameter(isCursor, notTime); q == nil {
		return "", nil
	}
	p.last.visitPageInfo(func(name string, n rawjson.Node) bool {
		if !isNextCursor(name) {
			return true
		}
		switch p.last.doc.Kind(n) {
		case rawjson.String:
			value = p.last.doc.Str(n)
		case rawjson.Number:
			value = string(p.last.doc.Raw(n))
		default:
		}
		return value == ""
	})
	return value, q
}

// itemCursor returns the parameter that takes the id of the last item, and that
// id; nil: there is none, or the response does not say that there are more.
func (p *pages) itemCursor() (id string, q *parameter) {
	if q = p.op.pageParameter(isItemCursor, notTime); q == nil || !p.last.hasMore() {
		return "", nil
	}
	if id = p.last.lastID(); id == "" {
		return "", nil
	}
	return id, q
}

// numbered returns the next page by number or offset, if the response says that
// there are more.
func (p *pages) numbered(at page) (next *page, why string) {
	if p.last.count == 0 {
		return nil, ""
	}
	q, offset := p.op.pageParameter(isOffset, isInteger), true
	if q == nil {
		q, offset = p.op.pageParameter(isPageNumber, isInteger), false
	}
	if q == nil {
		return nil, ""
	}
	if n, ok := p.nextNumber(offset); ok {
		p.method = byNumber
		return p.withArgument(at, q, strconv.Itoa(n))
	}
	now, known := p.position(at, q, offset)
	total, counted := p.total()
	switch {
	case counted && p.count >= total:
		return nil, ""
	case !counted && !p.last.hasMore() && (offset || !p.pagesLeft(now, q)):
		if _, told := p.last.number(pageTotals()...); told && !offset {
			return nil, ""
		}
		p.unknown = true
		return nil, "the response contains neither the number of items nor whether there are more, so argument " + q.arg + " is not incremented"
	case !known:
		return nil, "the first value of argument " + q.arg + " is not declared"
	}
	p.method = byNumber
	if offset {
		return p.withArgument(at, q, strconv.Itoa(now+p.last.count))
	}
	return p.withArgument(at, q, strconv.Itoa(now+1))
}

// nextNumber returns the number of the next page from the response.
func (p *pages) nextNumber(offset bool) (n int, ok bool) {
	if offset {
		return p.last.number("nextoffset", "nextskip", "nextstart")
	}
	return p.last.number("nextpage", "nextpagenumber")
}

func pageTotals() []string {
	return []string{"totalpages", "pages", "pagecount", "lastpage", "numpages"}
}

// pagesLeft reports whether the response's number of pages is above the current
// page.
func (p *pages) pagesLeft(now int, q *parameter) bool {
	all, ok := p.last.number(pageTotals()...)
	first := 1
	if n, known := p.op.first(q); known {
		first = n
	} else if now == 0 {
		first = 0
	}
	return ok && now-first+1 < all
}

// position returns the number of the current page: from the arguments, else
// from the response, else the first value of the parameter.
func (p *pages) position(at page, q *parameter, offset bool) (n int, known bool) {
	if doc, err := rawjson.Parse(at.args); err == nil {
		v := encode.Argument{Doc: doc, Node: doc.Get(doc.Root(), q.arg)}
		if n, err := strconv.Atoi(string(v.Scalar())); v.IsGiven() && err == nil {
			return n, true
		}
	}
	echoes := []string{"page", "pagenumber", "pageno", "pagenum", "pageindex", "currentpage", "number"}
	if offset {
		echoes = []string{normalizeName(q.name)}
	}
	if n, ok := p.last.number(echoes...); ok {
		return n, true
	}
	if n, ok := p.op.first(q); ok {
		return n, true
	}
	return 0, offset && countsFromZero(normalizeName(q.name)) // the first page is 1 in some APIs and 0 in others
}

// first returns the first value of a counting parameter according to its
// schema.
func (o *operation) first(q *parameter) (n int, known bool) {
	s := o.api.doc.Follow(q.schema)
	for _, key := range []string{"default", "minimum"} {
		if n, err := strconv.Atoi(string(s.Get(key).Raw())); err == nil && (key == "default" || n == 0 || n == 1) {
			return n, true
		}
	}
	return 0, false
}

// total returns the number of items of the list according to the response. A
// number below the items already read counts something else.
func (p *pages) total() (n int, ok bool) {
	if n, ok = p.last.number("total", "totalcount", "totalitems", "totalresults", "totalelements", "totalrecords"); !ok {
		for _, name := range []string{"X-Total-Count", "X-Total", "X-WP-Total", "Total-Count"} {
			if i, err := strconv.Atoi(p.res.Header.Get(name)); err == nil {
				n, ok = i, true
				break
			}
		}
	}
	return n, ok && n >= p.count
}

// unreadReason says at the end of a list what is known about unread items; empty:
// nothing.
func (p *pages) unreadReason() string {
	if p.method == unknownPaging && p.op.pageParameter(isPaging, anyKind) == nil {
		return ""
	}
	if total, ok := p.total(); ok && p.count < total {
		return "the response says that there are " + strconv.Itoa(total) + " items, but not where the next page is"
	}
	if p.last.hasMore() {
		return "the response says that there are more items, but not where the next page is"
	}
	return ""
}

func isPaging(name string) bool {
	return isOffset(name) || isPageNumber(name) || isCursor(name) || isItemCursor(name)
}

// pageParameter returns the first query parameter with such a name and kind, or
// nil. Parameters that the operator has fixed do not count.
func (o *operation) pageParameter(is func(name string) bool, kind func(*operation, *parameter) bool) *parameter {
	params := o.planned().params
	for i := range params {
		if q := &params[i]; q.in == encode.InQuery && !q.hidden && is(normalizeName(q.name)) && kind(o, q) {
			return q
		}
	}
	return nil
}

func anyKind(*operation, *parameter) bool { return true }

// notTime reports whether a parameter is not a time, as after and start often
// are.
func notTime(o *operation, q *parameter) bool {
	format := o.api.doc.Follow(q.schema).StrAt("format")
	return !slices.Contains([]string{"date", "date-time", "time", "datetime"}, format)
}

// isInteger reports whether a parameter accepts only integers.
func isInteger(o *operation, q *parameter) bool {
	s := o.schemaOf(q)
	takes := func(value string) bool { return s == nil || len(s.Validate([]byte(value))) == 0 }
	return !takes(`"1"`) && !takes(`"a"`) && !takes("1.5") && !takes("2.5")
}

// schemaOf returns the schema that validates a parameter; nil: its schema is
// invalid.
func (o *operation) schemaOf(q *parameter) *schema.Schema {
	f := o.parameterSchema(q, convert.InputCheck)
	s, err := schema.Compile(convert.Assemble(objectSchema(f.Body), f.Deps), schema.Options{})
	if err != nil {
		return nil
	}
	return s
}

// selectsPage reports whether the caller selects a page.
func (o *operation) selectsPage(args []byte) bool {
	doc, err := rawjson.Parse(args)
	if err != nil {
		return false
	}
	named := func(is func(string) bool, kind func(*operation, *parameter) bool) bool {
		q := o.pageParameter(is, kind)
		return q != nil && encode.Argument{Doc: doc, Node: doc.Get(doc.Root(), q.arg)}.IsGiven()
	}
	return named(isCursor, notTime) || named(isItemCursor, notTime) || named(isBackwards, notTime) || named(isOffset, isInteger) || named(isPageNumber, isInteger)
}

// withArgument returns the arguments with one of them set.
func withArgument(args []byte, q *parameter, value []byte) []byte {
	b := []byte{'{'}
	if doc, err := rawjson.Parse(args); err == nil {
		for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
			if doc.Key(n) != q.arg {
				b = append(append(append(rawjson.AppendString(b, doc.Key(n)), ':'), doc.Raw(n)...), ',')
			}
		}
	}
	b = append(rawjson.AppendString(b, q.arg), ':')
	return append(append(b, value...), '}')
}

// Usual names of parameters and members, normalized by normalizeName. Nothing is
// guessed for other names.

func isOffset(name string) bool {
	return slices.Contains([]string{"offset", "skip", "start", "startindex", "pageoffset", "startat"}, name)
}

// countsFromZero reports whether an offset always starts at 0.
func countsFromZero(name string) bool {
	return slices.Contains([]string{"offset", "skip", "pageoffset"}, name)
}

func isPageNumber(name string) bool {
	return slices.Contains([]string{"page", "pagenumber", "pageno", "pagenum", "pageindex", "currentpage"}, name)
}

func isCursor(name string) bool {
	return slices.Contains([]string{
		"cursor", "pagetoken", "nexttoken", "nextpagetoken", "continuationtoken", "continuation", "continue", "marker", "after", "nextcursor", "pagecursor", "startcursor", "pageafter", "scrollid", "bookmark",
	}, name)
}

// isItemCursor reports whether a parameter takes the id of the last item of the
// previous page. The response then only says that there are more.
func isItemCursor(name string) bool {
	return slices.Contains([]string{"startingafter", "afterid", "startafter"}, name)
}

// isBackwards reports whether a parameter selects previous pages.
func isBackwards(name string) bool {
	return slices.Contains([]string{"endingbefore", "beforeid", "before"}, name)
}

// isNextCursor reports whether a member contains the cursor of the next page.
func isNextCursor(name string) bool {
	return slices.Contains([]string{
		"nextcursor", "nextpagetoken", "nexttoken", "continuationtoken", "continuation", "continue", "nextmarker", "endcursor", "cursor", "after", "next", "nextpagecursor", "scrollid", "bookmark",
	}, name)
}

func isNextLink(name string) bool {
	return slices.Contains([]string{"next", "nexturl", "nextlink", "odatanextlink", "nextpageurl", "nextpage", "nexthref", "nexturi"}, name)
}

// isPageInfo reports whether a member beside a list contains pagination data.
func isPageInfo(name string) bool {
	return slices.Contains([]string{"meta", "metadata", "paging", "pagination", "pageinfo", "page", "links", "cursors", "responsemetadata", "search"}, name)
}

// normalizeName normalizes a name: lower case without punctuation.
func normalizeName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", "$", "", "@", "", "[", "", "]", "").Replace(name))
}
