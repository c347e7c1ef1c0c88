package gateway

import (
	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
	"github.com/tenon-mcp/tenon/schema"
)

// reservedBy returns the names of the reserved arguments of this tool, which
// differ where the tool declares an argument of the same name.
func reservedBy(t *tenon.Tool) (set reservedargs.Set) {
	if asksConsent(t) {
		set |= reservedargs.Confirmed
	}
	if t.MaxResult > 0 {
		set |= reservedargs.Token
	}
	if t.Fields {
		set |= reservedargs.Fields
	}
	return set
}

// publishes returns the reserved arguments that the input schema lists for the
// contract p.
func (e *Tool) publishes(p envelope.Contract) reservedargs.Set {
	set := reservedBy(&e.tool)
	if e.tool.Confirmation.Mode == tenon.ConfirmHuman {
		set &^= reservedargs.Confirmed
	}
	set &^= reservedargs.Token
	if e.next == "" && (p.Streams() || e.tool.MaxResult > 0 && p.MayBeCut()) {
		set |= reservedargs.Token
	}
	return set
}

// takeReservedArgs removes the reserved arguments from a call.
func takeReservedArgs(c *tenon.Call, names *reservedargs.Names) (*tenon.Call, reservedargs.Values) {
	args, own := names.Extract(c.Args)
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

// coerced lists the coercions of reserved arguments.
func coerced(own *reservedargs.Values) (fixes []schema.Fix) {
	for _, c := range own.Coerced {
		fixes = append(fixes, schema.Fix{Path: "/" + c.Name, Kind: schema.FixKind(c.Kind), Old: c.Old, New: c.New})
	}
	return fixes
}
