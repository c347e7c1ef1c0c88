package auth

import (
	"net/http"
	"strings"
)

// maxCredential bounds what a caller sends, in bytes: nobody decodes more.
const maxCredential = 16 << 10

// credential reads what a request shows of its caller: the value of X-API-Key, or
// the bearer token; empty: neither. A token in the URL or the body is not looked
// for (OAuth 2.1, 5.1).
func credential(h http.Header) (text string, isKey bool, e *Error) {
	keys, authorizations := h["X-Api-Key"], h["Authorization"]
	if len(keys) > 1 || len(authorizations) > 1 {
		return "", false, &Error{Status: http.StatusBadRequest, Code: InvalidRequest, Message: "the request has more than one credential"}
	}
	if len(keys) == 1 && keys[0] != "" {
		return keys[0], true, nil
	}
	if len(authorizations) == 0 {
		return "", false, nil
	}
	scheme, token, _ := strings.Cut(authorizations[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false, nil
	}
	if token = strings.Trim(token, " "); token == "" {
		return "", false, &Error{Status: http.StatusBadRequest, Code: InvalidRequest, Message: "the header Authorization has no token behind Bearer"}
	}
	return token, false, nil
}

// isToken reports whether text has the form of a token, b64token of RFC 6750, 2.1.
func isToken(text string) bool {
	body := strings.TrimRight(text, "=")
	for i := range len(body) {
		c := body[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-._~+/", rune(c)) {
			return false
		}
	}
	return body != ""
}
