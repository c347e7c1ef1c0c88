package encode

import (
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// Location is the part of a request that contains a parameter.
type Location uint8

// The locations.
const (
	InPath Location = iota
	InQuery
	InHeader
	InCookie
	InForm        // a field of a form (2.0)
	InQueryString // the whole query (3.2)
)

func (l Location) String() string {
	return [...]string{"path", "query", "header", "cookie", "form", "query"}[l]
}

// locations is a set of locations.
type locations uint8

func at(all ...Location) (set locations) {
	for _, l := range all {
		set |= 1 << l
	}
	return set
}

func (set locations) has(l Location) bool { return set&(1<<l) != 0 }

// LocationOf reads the member in of a parameter object.
func LocationOf(in string) (Location, bool) {
	switch in {
	case "path":
		return InPath, true
	case "query":
		return InQuery, true
	case "header":
		return InHeader, true
	case "cookie":
		return InCookie, true
	case "formData":
		return InForm, true
	case "querystring":
		return InQueryString, true
	}
	return 0, false
}

// Invalid is the error for an argument that the caller must change.
func Invalid(format string, args ...any) *tenon.Error {
	return &tenon.Error{Code: tenon.CodeValidation, Message: fmt.Sprintf(format, args...)}
}

// Rejected is the error for a request that cannot be made.
func Rejected(format string, args ...any) *tenon.Error {
	return &tenon.Error{Code: tenon.CodeRequest, Message: fmt.Sprintf(format, args...)}
}

// TooLong is the error for arguments that make a part of the request too long.
func TooLong(what string, limit int) *tenon.Error {
	return Invalid("the arguments make %s longer than %d KiB", what, limit>>10)
}

// MediaType returns a media type or range in lower case and without parameters.
func MediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(s))
}

// IsJSON reports whether bodies of a media type are described by a schema.
// Ranges count: generators write "*/*" for JSON.
func IsJSON(media string) bool {
	switch media {
	case "application/json", "text/json", "*/*", "application/*":
		return true
	}
	return strings.HasSuffix(media, "+json")
}

// IsMediaType reports whether s is a media type that may be written into a
// header.
func IsMediaType(s string) bool {
	major, minor, found := strings.Cut(s, "/")
	return found && IsToken(major) && IsToken(minor)
}

// IsToken reports whether s is valid as a method or header name (RFC 9110
// §5.6.2).
func IsToken(s string) bool {
	for i := range len(s) {
		if !isTokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
