package egress

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// storable reports whether a response may be stored (RFC 9111 §3): its status
// is final and understood, it is not forbidden, and it has a lifetime or a
// validator. Heuristic lifetimes are not used.
func storable(got Response, limit int64) bool {
	switch got.Status {
	case http.StatusOK, http.StatusNonAuthoritativeInfo, http.StatusNoContent, http.StatusNotFound, http.StatusGone:
	default:
		return false
	}
	control := directives(got.Header)
	_, never := control["no-store"]
	if never || strings.Contains(strings.Join(got.Header["Vary"], ","), "*") || int64(len(got.Body)) > limit/4 {
		return false
	}
	return got.Header.Get("Etag") != "" || got.Header.Get("Last-Modified") != "" || lifetime(got.Header, control, time.Now()) > 0
}

// fresh reports whether s may be used without validation (RFC 9111 §4.2).
func (s *stored) fresh(now time.Time) bool {
	control := directives(s.header)
	if _, ask := control["no-cache"]; ask {
		return false
	}
	return lifetime(s.header, control, s.received) > s.age(now)
}

// lifetime returns the freshness lifetime of a response.
func lifetime(h http.Header, control map[string]string, received time.Time) time.Duration {
	if text, there := control["max-age"]; there {
		return seconds(text)
	}
	expires, err := http.ParseTime(h.Get("Expires"))
	if err != nil {
		return 0 // absent, or invalid and therefore in the past (RFC 9111 §5.3)
	}
	return expires.Sub(dateOf(h, received))
}

// age returns the time since the origin generated or validated the response
// (RFC 9111 §4.2.3).
func (s *stored) age(now time.Time) time.Duration {
	apparent := max(0, s.received.Sub(dateOf(s.header, s.received)))
	told := seconds(s.header.Get("Age")) + s.received.Sub(s.sent)
	return max(apparent, told) + now.Sub(s.received)
}

func dateOf(h http.Header, otherwise time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return otherwise
}

// seconds reads a number of seconds: 0 if invalid, the maximum of RFC 9111
// §1.2.2 if too large.
func seconds(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil && n == 0 { // for a number that is too large n is the maximum
		return 0
	}
	return time.Duration(min(n, math.MaxInt32)) * time.Second
}

// directives reads Cache-Control. Of duplicate directives the first counts.
func directives(h http.Header) map[string]string {
	found := map[string]string{}
	rest := strings.Join(h["Cache-Control"], ",")
	for rest != "" {
		var item string
		item, rest = cutItem(rest)
		name, value, _ := strings.Cut(item, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := found[name]; !twice && name != "" {
			found[name] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return found
}

// cutItem splits a list at its first comma outside of quotation marks.
func cutItem(list string) (item, rest string) {
	quoted := false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			return list[:i], list[i+1:]
		}
	}
	return list, ""
}
