package openapi

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// maxName is the longest name that all clients take; Options.MaxName allows
// another.
const maxName = 64

// names gives every operation of a document its own name. The first that asks
// for a name gets it, so names follow the order of the document.
type names struct {
	taken map[string]int
	most  int // bytes of a name
}

// propose returns the name of an operation.
func propose(id, method, path string, most int) string {
	if n := legal(id); n != "" {
		return shorten(n, most)
	}
	return shorten(legal(strings.ToLower(method)+" "+path), most)
}

// take returns n where it is free, else n with a number, and books it.
func (ns names) take(n string) string {
	for {
		k := ns.taken[n] + 1
		ns.taken[n] = k
		if k == 1 {
			return n
		}
		suffix := "_" + strconv.Itoa(k)
		m := n[:min(len(n), ns.most-len(suffix))] + suffix
		if ns.taken[m] == 0 {
			ns.taken[m] = 1
			return m
		}
	}
}

// legal writes each run of characters that a name cannot hold as one
// underscore, but not at the ends.
func legal(s string) string {
	ok := true
	for i := 0; i < len(s) && ok; i++ {
		ok = isNameByte(s[i])
	}
	if ok {
		return s
	}
	b := make([]byte, 0, len(s))
	gap := false
	for i := range len(s) {
		if !isNameByte(s[i]) {
			gap = true
			continue
		}
		if gap && len(b) > 0 && b[len(b)-1] != '_' && s[i] != '_' {
			b = append(b, '_')
		}
		gap = false
		b = append(b, s[i])
	}
	return string(b)
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// shorten cuts a long name at the end of a word and marks it with a hash of
// the whole name, so that two names that begin alike stay apart, whatever else
// is in the document.
func shorten(n string, most int) string {
	if len(n) <= most {
		return n
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(n))
	suffix := fmt.Sprintf("_%06x", h.Sum32()&0xffffff)
	head := n[:most-len(suffix)]
	if i := strings.LastIndexAny(head, "_-."); i > len(head)*2/3 {
		head = head[:i]
	}
	return strings.TrimRight(head, "_-.") + suffix
}
