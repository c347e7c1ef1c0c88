package server

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// A request's state goes to the client and comes back: what was answered in
// earlier rounds, and what was asked in the last. It is authenticated, and
// bound to who asked, to the request and to a time; else a client could answer
// what nobody asked, or take the answers of one call to another.
type stateKey [32]byte

// roundState is what a sealed state holds.
type roundState struct {
	answers map[string][]byte // by key; JSON
	asked   []string          // keys of the last round
	tries   int               // how many answers did not fit
	series  string            // names this and the other rounds of one call
}

// sealedState is its form inside the seal.
type sealedState struct {
	Until   int64                      `json:"u"`
	Answers map[string]json.RawMessage `json:"a,omitempty"`
	Asked   []string                   `json:"q"`
	Tries   int                        `json:"t,omitempty"`
	Series  string                     `json:"s"`
}

func (k *stateKey) seal(q *request, s *roundState) (string, bool) {
	if s.series == "" {
		s.series = rand.Text()
	}
	out := sealedState{Until: time.Now().Add(stateLife).Unix(), Asked: s.asked, Tries: s.tries, Series: s.series, Answers: map[string]json.RawMessage{}}
	for key, raw := range s.answers {
		out.Answers[key] = raw
	}
	b, err := json.Marshal(out)
	if err != nil || len(b) > maxState {
		return "", false
	}
	return base64.RawURLEncoding.EncodeToString(append(k.mac(q, b), b...)), true
}

func (k *stateKey) open(q *request, sealed string) (*roundState, bool) {
	if len(sealed) > 2*maxState {
		return nil, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(b) < sha256.Size || !hmac.Equal(b[:sha256.Size], k.mac(q, b[sha256.Size:])) {
		return nil, false
	}
	var in sealedState
	if json.Unmarshal(b[sha256.Size:], &in) != nil || time.Now().Unix() > in.Until {
		return nil, false
	}
	s := &roundState{answers: map[string][]byte{}, asked: in.Asked, tries: in.Tries, series: in.Series}
	for key, raw := range in.Answers {
		s.answers[key] = raw
	}
	return s, true
}

// mac binds a state to the request that it belongs to. The arguments may come
// back in another order of members or with other white space.
func (k *stateKey) mac(q *request, state []byte) []byte {
	arguments, err := rawjson.AppendCanonical(nil, q.Arguments)
	if err != nil {
		arguments = bytes.Clone(q.Arguments)
	}
	h := hmac.New(sha256.New, k[:])
	for _, part := range [...]string{string(q.subject), q.Method, q.Name, q.URI, string(arguments)} {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	h.Write(state)
	return h.Sum(nil)
}

// resume reads the answers that came with q. Those that were asked for count,
// the rest is ignored; without a state nothing was asked.
func (q *request) resume() *jsonrpc.Error {
	if q.era != modern || q.State == "" {
		return nil
	}
	s, ok := q.server.states.open(q, q.State)
	if !ok {
		return jsonrpc.InvalidParams("requestState is not valid for this request, or it is too old; begin again without it")
	}
	q.answers, q.tries, q.series = s.answers, s.tries, s.series
	doc, err := rawjson.Parse(q.Responses)
	if err != nil {
		return nil
	}
	for m := doc.First(doc.Root()); m != rawjson.None; m = doc.Next(m) {
		if key := doc.Key(m); slices.Contains(s.asked, key) {
			q.answers[key] = bytes.Clone(doc.Raw(m))
		}
	}
	return nil
}
