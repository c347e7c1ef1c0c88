package server

import (
	"bytes"
	"strconv"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// answer is one JSON-RPC response under construction. All of it stands in one
// buffer, but for what is large or shared by many: that stays where it is until
// it is written, see pieces.go.
type answer struct {
	buf    []byte
	pieces []piece // in their order
	owes   []debt  // what is given back once the answer was written
	id     []byte  // of its request, as it was written

	identity *encodedIdentity // that its _meta holds; nil: none

	retryAfter int64  // seconds, of an error; 0: not known
	challenge  string // the header WWW-Authenticate beside it; empty: none
	refused    bool   // a result that says that a limit is reached
}

// maxKept is the largest buffer that is kept for the next answer.
const maxKept = 1 << 20

func (s *Server) newAnswer() *answer {
	a, ok := s.answers.Get().(*answer)
	if !ok {
		return &answer{buf: make([]byte, 0, 4096)}
	}
	return a
}

// release ends the use of an answer, which was written or never will be.
func (s *Server) release(a *answer) {
	for _, d := range a.owes {
		d.settle()
	}
	a.id, a.identity, a.retryAfter, a.refused = nil, nil, 0, false
	clear(a.owes)
	a.owes = a.owes[:0]
	a.reset()
	if cap(a.buf) <= maxKept {
		s.answers.Put(a)
	}
}

// reset makes the answer empty. What it owes it goes on owing.
func (a *answer) reset() {
	clear(a.pieces)
	a.buf, a.pieces, a.challenge = a.buf[:0], a.pieces[:0], ""
}

func (a *answer) write(s string) { a.buf = append(a.buf, s...) }

func (a *answer) text(s string) { a.buf = rawjson.AppendString(a.buf, s) }

// member begins the next member of the object that is open.
func (a *answer) member(key string) {
	n := len(a.pieces)
	if n > 0 && a.pieces[n-1].at == len(a.buf) || a.buf[len(a.buf)-1] != '{' {
		a.buf = append(a.buf, ',')
	}
	a.buf = append(append(append(a.buf, '"'), key...), '"', ':')
}

func (a *answer) envelope(id []byte) {
	a.write(`{"jsonrpc":"2.0"`)
	a.id = id
	if id != nil {
		a.write(`,"id":`)
		a.buf = append(a.buf, id...)
	}
}

// begin opens the result for q; meta, a JSON object or nil, is what its _meta
// holds. Members follow, then end.
func (a *answer) begin(q *request, meta []byte) {
	a.envelope(q.ID)
	a.write(`,"result":`)
	a.open(q, meta)
}

// open begins a result in the form of its era.
func (a *answer) open(q *request, meta []byte) { a.openAs(q, "complete", meta) }

// openAs begins a result of that type, which only 2026-07-28 names.
func (a *answer) openAs(q *request, resultType string, meta []byte) {
	a.write(`{`)
	meta = inside(meta)
	if q.era == modern {
		a.write(`"resultType":"`)
		a.write(resultType)
		a.write(`",`)
		a.write(`"_meta":{`)
		a.identity = q.server.identity.Load()
		a.buf = append(a.buf, a.identity.member...)
		if len(meta) > 0 {
			a.buf = append(append(a.buf, ','), meta...)
		}
		a.write(`}`)
	} else if len(meta) > 0 {
		a.write(`"_meta":{`)
		a.buf = append(append(a.buf, meta...), '}')
	}
}

func (a *answer) end() { a.write(`}}`) }

// inside returns the members of a JSON object without its braces.
func inside(object []byte) []byte {
	object = bytes.TrimSpace(object)
	if len(object) < 2 || object[0] != '{' {
		return nil
	}
	return bytes.TrimSpace(object[1 : len(object)-1])
}

// fail makes the answer an error, whatever stood in it. An error without an
// id has no member for it: the protocol knows no null there.
func (a *answer) fail(id []byte, e *jsonrpc.Error) {
	a.reset()
	a.retryAfter = e.RetryAfter
	a.envelope(id)
	a.write(`,"error":`)
	a.failure(e)
	a.write("}")
	a.challenge = e.Challenge
}

// failure writes the object of an error.
func (a *answer) failure(e *jsonrpc.Error) {
	a.write(`{"code":`)
	a.buf = strconv.AppendInt(a.buf, int64(e.Code), 10)
	a.write(`,"message":`)
	a.text(e.Message)
	if e.Data != nil {
		a.write(`,"data":`)
		a.buf = append(a.buf, e.Data...)
	}
	a.write("}")
}

// caching writes the members that 2026-07-28 wants on what may be cached.
func (a *answer) caching(q *request, ttl string, public bool) {
	if q.era != modern {
		return
	}
	scope := "private"
	if public {
		scope = "public"
	}
	a.write(`,"ttlMs":` + ttl + `,"cacheScope":"` + scope + `"`)
}

// callResult writes the members of a tool's result.
func (a *answer) callResult(r *tenon.Result, revision string) {
	a.refused = r.Outcome.RetryAfter > 0
	a.member("content")
	a.write("[")
	for i := range r.Content {
		if i > 0 {
			a.write(",")
		}
		a.block(older(&r.Content[i], revision))
	}
	a.write("]")
	if r.Structured != nil {
		a.member("structuredContent")
		a.put(r.Structured, asIs)
	}
	if r.IsError {
		a.member("isError")
		a.write("true")
	}
}

// older returns a block as its revision knows it: a link is text with the
// address before 2025-06-18. An empty revision is not known.
func older(b *tenon.Content, revision string) *tenon.Content {
	if b.Type == tenon.ResourceLink && (revision == jsonrpc.BatchRevision || revision == "2024-11-05") {
		return &tenon.Content{Text: []byte(b.URI)}
	}
	return b
}

func (a *answer) block(b *tenon.Content) {
	switch b.Type {
	case tenon.TextContent:
		a.write(`{"type":"text","text":`)
		a.put(b.Text, asString)
	case tenon.ImageContent:
		a.write(`{"type":"image"`)
		a.media("data", b)
	case tenon.AudioContent:
		a.write(`{"type":"audio"`)
		a.media("data", b)
	case tenon.EmbeddedResource:
		a.write(`{"type":"resource","resource":`)
		a.resource(b, "")
	case tenon.ResourceLink:
		a.write(`{"type":"resource_link"`)
		a.members("uri", b.URI, "name", orURI(b.Name, b.URI), "title", b.Title, "description", b.Description, "mimeType", b.MediaType)
		if b.Size > 0 {
			a.member("size")
			a.buf = strconv.AppendInt(a.buf, b.Size, 10)
		}
	}
	a.object("annotations", b.Annotations)
	a.object("_meta", b.Meta)
	a.write("}")
}

// object writes a member that a source has made. What is no object is left out:
// it would break the whole message.
func (a *answer) object(key string, value []byte) {
	if len(value) == 0 {
		return
	}
	compact, err := rawjson.AppendCompact(nil, value)
	if err != nil || compact[0] != '{' {
		return
	}
	a.member(key)
	a.buf = append(a.buf, compact...)
}

// resource writes the contents of a resource; uri stands in where the block
// has none.
func (a *answer) resource(b *tenon.Content, uri string) {
	a.write(`{"uri":`)
	if b.URI != "" {
		uri = b.URI
	}
	a.text(uri)
	if b.Text == nil {
		a.media("blob", b)
		a.write("}")
		return
	}
	a.members("mimeType", b.MediaType)
	a.member("text")
	a.put(b.Text, asString)
	a.write("}")
}

// media writes binary data in base64, straight into the answer.
func (a *answer) media(key string, b *tenon.Content) {
	if b.MediaType != "" || b.Type != tenon.EmbeddedResource {
		a.member("mimeType")
		a.text(b.MediaType)
	}
	a.member(key)
	a.write(`"`)
	a.put(b.Data, asBase64)
	a.write(`"`)
}

// AppendResult appends r as the result object of tools/call, in the form of
// the revisions before 2026-07-28, which adds members of its own. It is for
// who shows results without a client.
func AppendResult(dst []byte, r *tenon.Result) []byte {
	a := answer{buf: dst}
	a.open(&request{era: legacy}, r.Meta)
	a.callResult(r, "")
	a.write("}")
	return a.flat()
}
