package shape

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/schema"
)

// Declared is one declared answer, ready to be checked against.
type Declared struct {
	Status string // "200", "2XX", "default"; empty: no HTTP is involved
	Media  string // type or range; empty: no body
	Body   *schema.Schema
}

// Match returns the declared answer for what came: by status the exact one,
// else its class (2XX), else default; among those the one whose media type
// covers the body's best. Where there is none, the violation says what was
// declared.
func Match(declared []Declared, a *Answer) (*Declared, schema.Violation) {
	some := ofStatus(declared, a.Status)
	if len(some) == 0 {
		return nil, schema.Violation{Keyword: "status", Expected: statuses(declared), Got: strconv.Itoa(a.Status)}
	}
	d := ofMedia(some, a)
	if d == nil {
		return nil, schema.Violation{Keyword: "mediaType", Expected: medias(some), Got: a.mediaWord()}
	}
	return d, schema.Violation{}
}

func ofStatus(declared []Declared, status int) []Declared {
	exact, class := "", ""
	if status != 0 {
		exact = strconv.Itoa(status)
		class = exact[:1] + "XX"
	}
	for _, want := range []string{exact, class, "default"} {
		is := func(d Declared) bool { return strings.EqualFold(d.Status, want) }
		if !slices.ContainsFunc(declared, is) {
			continue
		}
		if len(declared) == 1 {
			return declared
		}
		return slices.DeleteFunc(slices.Clone(declared), func(d Declared) bool { return !is(d) })
	}
	return nil
}

func ofMedia(declared []Declared, a *Answer) *Declared {
	came := Essence(a.Media)
	if len(a.Body) == 0 {
		came = ""
	} else if came == "" {
		came = "application/json"
	}
	best, rate := -1, 0
	for i := range declared {
		if m := mediaMatch(declared[i].Media, came); m > rate {
			best, rate = i, m
		}
	}
	if best < 0 {
		return nil
	}
	return &declared[best]
}

// mediaMatch rates how well a declared media type or range covers a real one,
// both without parameters: 0 not at all, 1 */*, 2 type/*, 3 the same.
func mediaMatch(declared, came string) int {
	switch {
	case declared == came:
		return 3
	case declared == "*/*" && came != "":
		return 1
	case strings.HasSuffix(declared, "/*") && strings.HasPrefix(came, declared[:len(declared)-1]):
		return 2
	}
	return 0
}

func statuses(declared []Declared) string {
	var names []string
	for _, d := range declared {
		if !slices.Contains(names, d.Status) {
			names = append(names, d.Status)
		}
	}
	return strings.Join(names, ", ")
}

func medias(declared []Declared) string {
	names := make([]string, len(declared))
	for i, d := range declared {
		if names[i] = d.Media; d.Media == "" {
			names[i] = "no body"
		}
	}
	return strings.Join(names, ", ")
}

func (a *Answer) mediaWord() string {
	switch {
	case len(a.Body) == 0:
		return "no body"
	case a.Media == "":
		return "a body without a media type"
	}
	return Essence(a.Media)
}
