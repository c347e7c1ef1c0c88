package tenon

import (
	"github.com/tenon-mcp/tenon/internal/reserve"
	"github.com/tenon-mcp/tenon/internal/shape"
)

// reserves names the arguments that are the gateway's own with this tool,
// unless it declares them for itself.
func (t *Tool) reserves() (set reserve.Set) {
	if t.asksConsent() {
		set |= reserve.Confirmed
	}
	if t.MaxResult > 0 {
		set |= reserve.Token
	}
	if t.Fields {
		set |= reserve.Fields
	}
	return set
}

// publishes names those of them that a caller can use, where the tool promises p.
func (t *Tool) publishes(p shape.Promise) reserve.Set {
	set := t.reserves()
	if t.Consent.Mode == ConsentHuman {
		set &^= reserve.Confirmed
	}
	if !p.MayBeCut() {
		set &^= reserve.Token
	}
	return set
}

// ownArguments takes the arguments that are the gateway's own out of a call.
func ownArguments(c *Call, set reserve.Set) (*Call, reserve.Own) {
	args, own := reserve.Take(c.Args, set)
	if len(args) == 0 {
		args = []byte("{}")
	}
	if len(args) != len(c.Args) {
		without := *c
		without.Args = args
		c = &without
	}
	return c, own
}
