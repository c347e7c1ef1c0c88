package openapi

import (
	"slices"
	"strings"
)

// The names by which parameters and members are known, without signs and in
// lower case. What is not named so is not guessed at.

func isOffset(name string) bool {
	return slices.Contains([]string{"offset", "skip", "start", "startindex", "pageoffset", "startat"}, name)
}

// countsFromZero tells the offsets of which everybody knows where they begin.
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

// isItemCursor tells the parameters that take the id of the last item that was
// read, where the answer only says that there are more.
func isItemCursor(name string) bool {
	return slices.Contains([]string{"startingafter", "afterid", "startafter"}, name)
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
