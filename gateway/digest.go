package gateway

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strconv"
)

// Digest names what clients get to see of the lists of the catalog, whole: two that
// list the same have the same. It renders every definition, which can take seconds.
func (c *Catalog) Digest() string {
	d := digest{sha256.New()}
	for _, e := range c.tools {
		d.write("tool", e.Name(), string(e.Definition()))
	}
	return d.features(c)
}

// Outline is Digest without the schemas of tools: nothing is rendered.
func (c *Catalog) Outline() string {
	d := digest{sha256.New()}
	for _, e := range c.tools {
		d.write("tool", e.Name(), e.tool.Title, e.tool.Description)
	}
	return d.features(c)
}

type digest struct{ hash.Hash }

// write adds texts, each with its length, so that no two lists of texts are the same.
func (d digest) write(texts ...string) {
	for _, text := range texts {
		_, _ = d.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text)))) // a hash does not fail
		_, _ = d.Write([]byte(text))
	}
}

// features adds all but tools, and returns the sum.
func (d digest) features(c *Catalog) string {
	for i := range c.resources {
		r := &c.resources[i]
		d.write("resource", r.URI, r.Name, r.Title, r.Description, r.MediaType, strconv.FormatInt(r.Size, 10))
	}
	for i := range c.templates {
		t := &c.templates[i]
		d.write("template", t.URI, t.Name, t.Title, t.Description, t.MediaType)
	}
	for i := range c.prompts {
		p := &c.prompts[i]
		d.write("prompt", p.Name, p.Title, p.Description)
		for _, a := range p.Arguments {
			d.write("argument", a.Name, a.Title, a.Description, strconv.FormatBool(a.Required))
		}
	}
	return hex.EncodeToString(d.Sum(nil)[:16])
}
