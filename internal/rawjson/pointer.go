package rawjson

import "strings"

// Pointer resolves a JSON Pointer (RFC 6901) from the root; "" is the root
// itself. It returns None where there is no value.
func (d *Doc) Pointer(ptr string) Node {
	n := d.Root()
	for ptr != "" {
		if ptr[0] != '/' {
			return None
		}
		token := ptr[1:]
		if end := strings.IndexByte(token, '/'); end >= 0 {
			token = token[:end]
		}
		ptr = ptr[1+len(token):]
		if n = d.step(n, token); n == None {
			return None
		}
	}
	return n
}

func (d *Doc) step(n Node, token string) Node {
	switch d.Kind(n) {
	case Object:
		if strings.IndexByte(token, '~') >= 0 {
			token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		}
		return d.Get(n, token)
	case Array:
		i, ok := arrayIndex(token, d.Len(n))
		if !ok {
			return None
		}
		for n = d.First(n); i > 0; i-- {
			n = d.Next(n)
		}
		return n
	}
	return None
}

// arrayIndex parses an index below size; leading zeros are not allowed.
func arrayIndex(token string, size int) (i int, ok bool) {
	if token == "" || len(token) > 1 && token[0] == '0' {
		return 0, false
	}
	for _, c := range []byte(token) {
		if c < '0' || c > '9' {
			return 0, false
		}
		if i = i*10 + int(c-'0'); i >= size {
			return 0, false
		}
	}
	return i, true
}

// AppendToken appends one reference token of a JSON Pointer with its slash.
func AppendToken(pointer []byte, token string) []byte {
	pointer = append(pointer, '/')
	for i := range len(token) {
		switch c := token[i]; c {
		case '~':
			pointer = append(pointer, "~0"...)
		case '/':
			pointer = append(pointer, "~1"...)
		default:
			pointer = append(pointer, c)
		}
	}
	return pointer
}

// EscapeToken escapes a reference token of a JSON Pointer.
func EscapeToken(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}
