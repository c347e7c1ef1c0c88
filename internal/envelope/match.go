package envelope

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/schema"
)

// Declared is one declared response, compiled.
type Declared struct {
	Status string // "200", "2XX", "default"; empty: no HTTP is involved
	Media  string // type or range; empty: no body
	Open   bool   // any body is valid, or none
	Body   *schema.Schema
	// Definition is the name of the definition that Body is; empty: none.
	Definition string
}

// Match returns the declared response for a status and media type: the exact
// status, else its class (2XX), else default; among those the best match of the
// media type. If there is none, the violation says what is declared.
func Match(declared []Declared, a *Answer) (*Declared, schema.Violation) {
	place := 0
	for i := range declared {
		place = max(place, statusMatch(declared[i].Status, a.Status))
	}
	if place == 0 {
		return nil, schema.Violation{Keyword: "status", Expected: statuses(declared), Got: strconv.Itoa(a.Status)}
	}
	if d := ofMedia(declared, a, place); d != nil {
		return d, schema.Violation{}
	}
	some := slices.DeleteFunc(slices.Clone(declared), func(d Declared) bool { return statusMatch(d.Status, a.Status) != place })
	return nil, schema.Violation{Keyword: "mediaType", Expected: medias(some), Got: a.mediaWord()}
}

// statusMatch rates how well a declared status covers an actual one: 0 not at
// all, 1 default, 2 its class, 3 the same.
func statusMatch(declared string, status int) int {
	if status == 0 && declared == "" {
		return 3
	}
	if status != 0 && declared != "" {
		var digits [20]byte
		switch came := strconv.AppendInt(digits[:0], int64(status), 10); {
		case declared == string(came):
			return 3
		case declared[0] == came[0] && strings.EqualFold(declared[1:], "XX"):
			return 2
		}
	}
	if strings.EqualFold(declared, "default") {
		return 1
	}
	return 0
}

// ofMedia picks among the responses whose status matches as well as place.
func ofMedia(declared []Declared, a *Answer, place int) *Declared {
	came := Essence(a.Media)
	if len(a.Body) == 0 {
		came = ""
	} else if came == "" {
		came = "application/json"
	}
	best, rate := -1, 0
	for i := range declared {
		if statusMatch(declared[i].Status, a.Status) != place {
			continue
		}
		m := mediaMatch(declared[i].Media, came)
		if declared[i].Open {
			m = max(m, 1)
		}
		if m > rate {
			best, rate = i, m
		}
	}
	if best < 0 {
		return nil
	}
	return &declared[best]
}

// mediaMatch rates how well a declared media type or range covers an actual one,
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
