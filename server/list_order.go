package server

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/tenon-mcp/tenon/gateway"
)

// orderOf names the lists of a catalog: what they hold, in which order. A place in one
// of them is the same place in all that have the same name, whichever replica made
// them and after however many reloads. What a definition says is no part of it: a tool
// that is described in other words stands where it stood, and to compare schemas they
// would have to be made, which takes longer than a page.
func orderOf(c *gateway.Catalog) uint64 {
	h := sha256.New()
	var length [8]byte
	write := func(text string) {
		binary.BigEndian.PutUint64(length[:], uint64(len(text)))
		_, _ = h.Write(length[:]) // a hash does not fail
		_, _ = h.Write([]byte(text))
	}
	for _, t := range c.Tools() {
		write("tool")
		write(t.Name())
	}
	for i := range c.Resources() {
		write("resource")
		write(c.Resources()[i].URI)
	}
	for i := range c.Templates() {
		write("template")
		write(c.Templates()[i].URI)
	}
	for i := range c.Prompts() {
		write("prompt")
		write(c.Prompts()[i].Name)
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}
