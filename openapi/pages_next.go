package openapi

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// way is how a list leads from one page to the next. The first that leads
// anywhere is kept: where it ends, the list does.
type way uint8

const (
	noWay way = iota
	byLink
	byCursor
	byItem
	byNumber
)

// next finds the request for the page behind the last one. Without one, why says
// what is known of more; empty: nothing is, or the list is at its end.
func (p *pages) next(ctx context.Context, at page) (next *page, why string) {
	if p.last.ends() {
		return nil, ""
	}
	if p.way == noWay || p.way == byLink {
		if link := p.link(); link != "" {
			p.way = byLink
			return p.linked(ctx, at, link)
		}
	}
	if p.way == noWay || p.way == byCursor {
		if cursor, q := p.cursor(); q != nil && cursor != "" {
			p.way = byCursor
			return p.asking(at, q, cursor)
		}
	}
	if p.way == byLink || p.way == byCursor || p.saysNoNext() {
		return nil, ""
	}
	if id, q := p.itemCursor(); q != nil {
		p.way = byItem
		return p.asking(at, q, id)
	}
	if p.way == byItem {
		return nil, ""
	}
	return p.numbered(at)
}

// linked is the page behind a link.
func (p *pages) linked(ctx context.Context, at page, link string) (next *page, why string) {
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

// asking is the page that an argument leads to. No caller gave its value, so it
// must be one that a caller may give.
func (p *pages) asking(at page, q *parameter, text string) (next *page, why string) {
	s := p.op.schemaOf(q)
	for _, value := range [][]byte{rawjson.AppendString(nil, text), []byte(text)} {
		if s != nil && rawjson.Check(value) == nil && len(s.Validate(value)) == 0 {
			return &page{args: withArgument(at.args, q, value)}, ""
		}
	}
	return nil, "what would lead to the next page is no value for argument " + q.arg
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

// saysNoNext tells whether the answer has a place for what leads on, and
// nothing there.
func (p *pages) saysNoNext() (none bool) {
	doc := p.last.doc
	p.last.about(func(name string, n rawjson.Node) bool {
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

// cursor is the operation's parameter for a cursor, and what the answer gives
// for it; nil: pages are not found by cursors here.
func (p *pages) cursor() (value string, q *parameter) {
	if q = p.op.pageParameter(isCursor, notTime); q == nil {
		return "", nil
	}
	p.last.about(func(name string, n rawjson.Node) bool {
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

// itemCursor is the parameter that takes the id of the last item, with that id;
// nil: there is none, or the answer does not say that there is more.
func (p *pages) itemCursor() (id string, q *parameter) {
	if q = p.op.pageParameter(isItemCursor, notTime); q == nil || !p.last.more() {
		return "", nil
	}
	if id = p.last.lastID(); id == "" {
		return "", nil
	}
	return id, q
}

// numbered is the next page where the operation counts pages or items, by an
// integer, and the answer says that there are more.
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
		p.way = byNumber
		return p.asking(at, q, strconv.Itoa(n))
	}
	now, known := p.position(at, q, offset)
	total, counted := p.total()
	switch {
	case counted && p.count >= total:
		return nil, ""
	case !counted && !p.last.more() && (offset || !p.pagesLeft(now, q)):
		if _, told := p.last.number(pageTotals()...); told && !offset {
			return nil, ""
		}
		p.unknown = true
		return nil, "the answer says neither how many items there are nor whether there are more, so argument " + q.arg + " is not counted on"
	case !known:
		return nil, "nothing says where argument " + q.arg + " begins to count"
	}
	p.way = byNumber
	if offset {
		return p.asking(at, q, strconv.Itoa(now+p.last.count))
	}
	return p.asking(at, q, strconv.Itoa(now+1))
}

// nextNumber is the number of the next page where the answer says it.
func (p *pages) nextNumber(offset bool) (n int, ok bool) {
	if offset {
		return p.last.number("nextoffset", "nextskip", "nextstart")
	}
	return p.last.number("nextpage", "nextpagenumber")
}

func pageTotals() []string {
	return []string{"totalpages", "pages", "pagecount", "lastpage", "numpages"}
}

// pagesLeft tells whether the answer's number of pages is above the present one.
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

// position is the number that led to the last page: of the arguments, else as
// the answer has it, else where the parameter begins.
func (p *pages) position(at page, q *parameter, offset bool) (n int, known bool) {
	if doc, err := rawjson.Parse(at.args); err == nil {
		v := argument{doc, doc.Get(doc.Root(), q.arg)}
		if n, err := strconv.Atoi(string(v.scalar())); v.given() && err == nil {
			return n, true
		}
	}
	echoes := []string{"page", "pagenumber", "pageno", "pagenum", "pageindex", "currentpage", "number"}
	if offset {
		echoes = []string{plainWord(q.name)}
	}
	if n, ok := p.last.number(echoes...); ok {
		return n, true
	}
	if n, ok := p.op.first(q); ok {
		return n, true
	}
	return 0, offset && countsFromZero(plainWord(q.name)) // the first page is 1 for some and 0 for others
}

// first is where a parameter begins to count, as its schema says.
func (o *operation) first(q *parameter) (n int, known bool) {
	s := o.api.doc.follow(q.schema)
	for _, key := range []string{"default", "minimum"} {
		if n, err := strconv.Atoi(string(s.get(key).raw())); err == nil && (key == "default" || n == 0 || n == 1) {
			return n, true
		}
	}
	return 0, false
}

// total is how many items the list has, as the answer says. One that is below
// what came is that of something else.
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

// left says what the answer knows of more, at the end of a walk; empty: nothing.
func (p *pages) left() string {
	if p.way == noWay && p.op.pageParameter(isPaging, anyKind) == nil {
		return ""
	}
	if total, ok := p.total(); ok && p.count < total {
		return "the answer says that there are " + strconv.Itoa(total) + " items, and does not lead to the rest"
	}
	if p.last.more() {
		return "the answer says that there are more, and does not lead to them"
	}
	return ""
}

func isPaging(name string) bool {
	return isOffset(name) || isPageNumber(name) || isCursor(name) || isItemCursor(name)
}

// pageParameter is the operation's parameter in the query whose name and kind
// are of those; nil: there is none. What the operator fixed is not among them.
func (o *operation) pageParameter(is func(name string) bool, kind func(*operation, *parameter) bool) *parameter {
	params := o.planned().params
	for i := range params {
		if q := &params[i]; q.in == inQuery && !q.hidden && is(plainWord(q.name)) && kind(o, q) {
			return q
		}
	}
	return nil
}

func anyKind(*operation, *parameter) bool { return true }

// notTime tells the parameters that are no time: after and start often are one.
func notTime(o *operation, q *parameter) bool {
	format := o.api.doc.follow(q.schema).strAt("format")
	return !slices.Contains([]string{"date", "date-time", "time", "datetime"}, format)
}

// isInteger tells the parameters that take integers alone.
func isInteger(o *operation, q *parameter) bool {
	s := o.schemaOf(q)
	takes := func(value string) bool { return s == nil || len(s.Validate([]byte(value))) == 0 }
	return !takes(`"1"`) && !takes(`"a"`) && !takes("1.5") && !takes("2.5")
}

// schemaOf is what the values of a parameter are checked against; nil: its schema
// cannot be read.
func (o *operation) schemaOf(q *parameter) *schema.Schema {
	f := o.parameterSchema(q, checked)
	s, err := schema.Compile(assemble(objectSchema(f.body), f.deps), schema.Options{})
	if err != nil {
		return nil
	}
	return s
}

// namesPage tells whether the caller said which page it wants.
func (o *operation) namesPage(args []byte) bool {
	doc, err := rawjson.Parse(args)
	if err != nil {
		return false
	}
	named := func(is func(string) bool, kind func(*operation, *parameter) bool) bool {
		q := o.pageParameter(is, kind)
		return q != nil && argument{doc, doc.Get(doc.Root(), q.arg)}.given()
	}
	return named(isCursor, notTime) || named(isItemCursor, notTime) || named(isBackwards, notTime) || named(isOffset, isInteger) || named(isPageNumber, isInteger)
}

// withArgument is an object of arguments with one of them set.
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
