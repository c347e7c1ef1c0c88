package openapi

import (
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// nextLink returns the target of the first link with the relation next in Link
// headers (RFC 8288 §3), unresolved, or "". A link with an anchor belongs to
// another resource.
func nextLink(headers []string) string {
	for _, h := range headers {
		for h != "" {
			target, params, rest := cutLink(h)
			if target != "" && isNext(params) {
				return target
			}
			h = rest
		}
	}
	return ""
}

// endsLinks reports whether Link headers are for pagination and have no next
// page.
func endsLinks(headers []string) bool {
	leads := false
	for _, h := range headers {
		for h != "" {
			_, params, rest := cutLink(h)
			for rel := range strings.FieldsSeq(strings.ToLower(params["rel"])) {
				switch rel {
				case "next":
					return false
				case "prev", "previous", "first", "last":
					leads = true
				}
			}
			h = rest
		}
	}
	return leads
}

// cutLink reads one link of a header: its target, its parameters by lower-case
// name, and the remainder. Of duplicate parameters the first counts.
func cutLink(h string) (target string, params map[string]string, rest string) {
	_, h, open := strings.Cut(h, "<")
	target, h, closed := strings.Cut(h, ">")
	if !open || !closed {
		return "", nil, ""
	}
	params = map[string]string{}
	for {
		h = strings.TrimLeft(h, " \t")
		if !strings.HasPrefix(h, ";") {
			_, rest, _ = strings.Cut(h, ",")
			return strings.TrimSpace(target), params, rest
		}
		h = strings.TrimLeft(h[1:], " \t")
		end := strings.IndexAny(h, "=;,")
		name := h
		if end >= 0 {
			name = h[:end]
		}
		h = h[len(name):]
		value := ""
		if strings.HasPrefix(h, "=") {
			value, h = cutValue(strings.TrimLeft(h[1:], " \t"))
		}
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := params[name]; !twice {
			params[name] = value
		}
	}
}

// cutValue reads a token or a quoted string.
func cutValue(h string) (value, rest string) {
	if !strings.HasPrefix(h, `"`) {
		end := strings.IndexAny(h, ";,")
		if end < 0 {
			end = len(h)
		}
		return strings.TrimSpace(h[:end]), h[end:]
	}
	var b strings.Builder
	for i := 1; i < len(h); i++ {
		switch {
		case h[i] == '\\' && i+1 < len(h):
			i++
			b.WriteByte(h[i])
		case h[i] == '"':
			return b.String(), h[i+1:]
		default:
			b.WriteByte(h[i])
		}
	}
	return b.String(), ""
}

func isNext(params map[string]string) bool {
	if _, about := params["anchor"]; about {
		return false
	}
	for rel := range strings.FieldsSeq(params["rel"]) {
		if strings.EqualFold(rel, "next") {
			return true
		}
	}
	return false
}

// resolved resolves a link of a response; nil: it cannot be requested.
func resolved(from *url.URL, link string) *url.URL {
	u, err := from.Parse(link)
	if err != nil || u.User != nil || u.Opaque != "" || len(link) > encode.MaxLine {
		return nil
	}
	u.Fragment, u.RawFragment = "", ""
	return u
}
