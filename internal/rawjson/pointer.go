package rawjson

import "strings"

// Pointer follows a JSON Pointer (RFC 6901) from the root; "" is the root
// itself. It returns None where nothing is there.
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

// arrayIndex reads an index below size; leading zeros are not allowed.
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
