package tenon

import "github.com/tenon-mcp/tenon/internal/reserve"

// reserves names the arguments that are the gateway's own with this tool,
// unless it declares them for itself.
func (t *Tool) reserves() (set reserve.Set) {
	if t.asksConsent() {
		set |= reserve.Confirmed
	}
	if t.MaxResult > 0 {
		set |= reserve.Token
	}
	return set
}

// publishes names those of them that a caller can use.
func (t *Tool) publishes() reserve.Set {
	set := t.reserves()
	if t.Consent.Mode == ConsentHuman {
		set &^= reserve.Confirmed
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
