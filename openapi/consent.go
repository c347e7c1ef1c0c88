package openapi

import (
	"strings"

	"github.com/tenon-mcp/tenon"
)

// consent is due for every operation that is not safe: what it does is known
// from its method only, and a method that nobody knows may do anything.
func (o *operation) consent() tenon.ConfirmRule {
	c := tenon.ConfirmRule{Mode: o.api.options.Consent}
	if o.safe {
		return c
	}
	effect := "may change what is there"
	c.Action = tenon.RunTool
	switch o.method {
	case "POST":
		c.Action, effect = tenon.CreateResource, "creates something or runs an action"
	case "PUT":
		c.Action, effect = tenon.ReplaceResource, "replaces what is there"
	case "PATCH":
		c.Action, effect = tenon.UpdateResource, "changes what is there"
	case "DELETE":
		c.Action, effect = tenon.DeleteResource, "deletes what is there"
	}
	if o.method == "POST" && o.takesAway() {
		c.Action, effect = tenon.RunTool, "runs an action that takes something away"
	}
	c.Effect = o.method + " " + o.path + " " + effect
	if summary := strings.TrimSuffix(strings.TrimSpace(o.node.strAt("summary")), "."); summary != "" {
		c.Effect = cut(summary, maxTitle) + ": " + c.Effect
	}
	return c
}
