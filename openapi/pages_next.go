package openapi

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// The names by which parameters and members are known, without signs and in
// lower case. What is not named so is not guessed at.

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

// isItemCursor tells the parameters that take the id of the last item that was
// read, where the answer only says that there are more.
func isItemCursor(name string) bool {
	return slices.Contains([]string{"startingafter", "afterid", "after", "sinceid", "startafter"}, name)
}

// isBackwards tells the parameters that lead to the pages before.
func isBackwards(name string) bool {
	return slices.Contains([]string{"endingbefore", "beforeid", "before"}, name)
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
	if id, q := p.itemCursor(); q != nil {
		return &page{args: withArgument(at.args, q, id)}, ""
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

// itemCursor is the parameter that takes the id of the last item, with that id;
// nil: there is none, or the answer does not say that there is more.
func (p *pages) itemCursor() (id string, q *parameter) {
	if q = p.op.pageParameter(isItemCursor); q == nil || !p.last.more() {
		return "", nil
	}
	if id = p.last.lastID(); id == "" {
		return "", nil
	}
	return id, q
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
		if params[i].in == inQuery && !params[i].hidden && is(plainWord(params[i].name)) {
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
	for _, is := range []func(string) bool{isCursor, isItemCursor, isBackwards, isOffset, isPageNumber} {
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
