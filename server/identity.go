package server

import (
	"cmp"

	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Identity is how a server introduces itself to clients: in the result of
// initialize, and in every result of 2026-07-28.
type Identity struct {
	Name         string // what the server calls itself; empty: "tenon"
	Title        string // its name for people; empty: none
	Version      string // its version; empty: "0"
	Instructions string // how a model should use the tools; empty: none
}

// SetIdentity replaces the identity that Options gave the server, for requests
// from then on. It can be called at any time, for example after [gateway.Gateway.Swap]
// put the tools of a changed description in force.
func (s *Server) SetIdentity(i Identity) { s.identity.Store(i.encoded()) }

// encodedIdentity is an Identity as answers have it.
type encodedIdentity struct {
	implementation []byte // the value of serverInfo
	member         []byte // serverInfo in the _meta of a result
	instructions   string
}

func (i Identity) encoded() *encodedIdentity {
	b := rawjson.AppendString([]byte(`{"name":`), cmp.Or(i.Name, "tenon"))
	if i.Title != "" {
		b = rawjson.AppendString(append(b, `,"title":`...), i.Title)
	}
	b = append(rawjson.AppendString(append(b, `,"version":`...), cmp.Or(i.Version, "0")), '}')
	return &encodedIdentity{implementation: b, member: append([]byte(`"`+jsonrpc.MetaServerInfo+`":`), b...), instructions: i.Instructions}
}
