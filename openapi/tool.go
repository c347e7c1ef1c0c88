package openapi

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

const (
	maxTitle       = 120  // bytes of a title
	maxDescription = 1024 // bytes of a description; clients read those of all tools
)

// tool returns the tool of an operation that is described at v.
func (o *operation) tool(name string, v document.Value) tenon.Tool {
	summary := strings.TrimSpace(o.node.StrAt("summary"))
	t := tenon.Tool{
		Name:         name,
		Original:     o.original(name),
		Description:  o.description(summary),
		Keywords:     o.keywords(),
		Group:        o.group(),
		Annotations:  o.annotations(),
		Confirmation: o.confirmRule(),
		Policy:       o.api.options.Policy,
		Envelope:     o.api.options.Envelope,
		Contract:     o,
		Handler:      o.handler(),
		Origin:       o.api.doc.Diagnostic(v, "", ""),
		DefinitionAt: o.api.definition,
		Labels:       o.labels,
		Upstream:     func() string { return originOf(o.planned().base) },
	}
	if len(summary) <= maxTitle && !strings.Contains(summary, "\n") {
		t.Title = summary
	}
	t.Title = lastOverride(o, func(c *OperationOverride) string { return c.Title }, t.Title)
	t.Description = lastOverride(o, func(c *OperationOverride) string { return c.Description }, t.Description)
	return t
}

// original returns the operationId if the tool's name is made from it.
func (o *operation) original(name string) string {
	id := o.node.StrAt("operationId")
	if shorten(sanitizeName(id), cmp.Or(o.api.options.MaxName, maxName)) != name {
		return ""
	}
	return id
}

// description returns the description of the operation for the model.
func (o *operation) description(summary string) string {
	text := strings.TrimSpace(o.node.StrAt("description"))
	switch {
	case summary == "" && text == "":
		text = o.method + " " + o.path
	case text == "" || summary == text:
		text = summary
	case summary != "" && !strings.HasPrefix(text, summary):
		text = summary + "\n\n" + text
	}
	if o.node.IsTrue("deprecated") {
		text = "Deprecated. " + text
	}
	return truncate(text, maxDescription)
}

// group returns the operation's first tag, or else the first segment of its
// path.
func (o *operation) group() string {
	for _, tag := range o.node.Get("tags").Each() {
		if text := strings.TrimSpace(tag.Str()); text != "" {
			return truncate(text, maxTitle)
		}
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(o.template(), "/"), "/")
	if strings.Contains(first, "{") {
		return ""
	}
	return first
}

// keywords returns additional keywords for search.
func (o *operation) keywords() string {
	all := []string{o.path}
	for _, tag := range o.node.Get("tags").Each() {
		all = append(all, tag.Str())
	}
	return strings.Join(all, " ")
}

// truncate shortens s to limit bytes, at the end of a word if one is near.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit - len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if i := strings.LastIndexAny(s[:n], " \n\t"); i > n*3/4 {
		n = i
	}
	return strings.TrimSpace(s[:n]) + "…"
}

// annotations derives the annotations from the method. PUT and PATCH overwrite data
// and an unknown method may do anything: they keep the protocol's default,
// destructive. POST is additive unless the operation's name says that it
// removes something.
func (o *operation) annotations() tenon.Annotations {
	var h tenon.Annotations
	yes, no := &o.api.yes, &o.api.no
	if o.idempotent() {
		h.Idempotent = yes
	}
	h.OpenWorld = lastOverride(o, func(c *OperationOverride) *bool { return c.OpenWorld }, nil)
	switch destroys := lastOverride(o, func(c *OperationOverride) *bool { return c.Destructive }, nil); {
	case o.safe:
		h.ReadOnly = yes
	case destroys != nil:
		h.Destructive = destroys
	case o.method == "DELETE":
		h.Destructive = yes
	case o.method == "POST" && !o.hasDestructiveName():
		h.Destructive = no
	}
	return h
}

// idempotent reports whether the operation is idempotent (RFC 9110 §9.2.2, or
// by an override).
func (o *operation) idempotent() bool {
	if says := lastOverride(o, func(c *OperationOverride) *bool { return c.Idempotent }, nil); says != nil && !o.safe {
		return *says
	}
	return o.safe || isIdempotentMethod(o.method)
}

// isIdempotentMethod reports whether a method is idempotent (RFC 9110 §9.2.2).
func isIdempotentMethod(method string) bool {
	return isSafe(method) || method == "PUT" || method == "DELETE"
}

// hasDestructiveName looks for a destructive verb in the operation's name and in the
// last segment of its path.
func (o *operation) hasDestructiveName() bool {
	last := o.path[strings.LastIndexByte(o.path, '/')+1:]
	return hasDestructiveVerb(o.node.StrAt("operationId")) || hasDestructiveVerb(last)
}

// hasDestructiveVerb checks the words of s, which end at non-letters and before a
// capital that follows a small letter.
func hasDestructiveVerb(s string) bool {
	start := 0
	for i := range len(s) + 1 {
		if i < len(s) && isLetter(s[i]) && (i == start || !isUpper(s[i]) || isUpper(s[i-1])) {
			continue
		}
		if isDestructiveVerb(s[start:i]) {
			return true
		}
		start = i
		if i < len(s) && !isLetter(s[i]) {
			start++
		}
	}
	return false
}

func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || isUpper(c) }

func isDestructiveVerb(w string) bool {
	if len(w) < 4 || len(w) > 10 {
		return false
	}
	switch strings.ToLower(w) {
	case "archive", "cancel", "clear", "close", "deactivate", "delete", "destroy", "disable", "drop", "erase", "expire",
		"kill", "leave", "overwrite", "purge", "remove", "reset", "revoke", "stop", "terminate", "truncate", "uninstall",
		"unpublish", "void", "wipe":
		return true
	}
	return false
}

// confirmRule is required for every operation that is not safe: its effect is known
// from its method only, and an unknown method may do anything.
func (o *operation) confirmRule() tenon.ConfirmRule {
	c := tenon.ConfirmRule{Mode: o.api.options.Confirm}
	if o.safe {
		return c
	}
	effect := "may change data"
	c.Action = tenon.RunTool
	switch o.method {
	case "POST":
		c.Action, effect = tenon.CreateResource, "creates something or runs an action"
	case "PUT":
		c.Action, effect = tenon.ReplaceResource, "replaces existing data"
	case "PATCH":
		c.Action, effect = tenon.UpdateResource, "changes existing data"
	case "DELETE":
		c.Action, effect = tenon.DeleteResource, "deletes existing data"
	}
	if o.method == "POST" && o.hasDestructiveName() {
		c.Action, effect = tenon.RunTool, "runs an action that removes something"
	}
	c.Effect = o.method + " " + o.path + " " + effect
	if summary := strings.TrimSuffix(strings.TrimSpace(o.node.StrAt("summary")), "."); summary != "" {
		c.Effect = truncate(summary, maxTitle) + ": " + c.Effect
	}
	return c
}
