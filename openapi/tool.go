package openapi

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon"
)

const (
	maxTitle       = 120  // bytes of a title
	maxDescription = 1024 // bytes of a description; clients read all of a list at once
)

// tool is the tool of an operation that was described at v.
func (o *operation) tool(name string, v value) tenon.Tool {
	summary := strings.TrimSpace(o.node.strAt("summary"))
	t := tenon.Tool{
		Name:         name,
		Original:     o.original(name),
		Description:  o.description(summary),
		Keywords:     o.words(),
		Group:        o.group(),
		Annotations:  o.hints(),
		Confirmation: o.consent(),
		Policy:       o.api.options.Policy,
		Envelope:     o.api.options.Shape,
		Contract:     o,
		Handler:      o.handler(),
		Origin:       o.api.doc.fault(v, "", ""),
	}
	if len(summary) <= maxTitle && !strings.Contains(summary, "\n") {
		t.Title = summary
	}
	t.Title = said(o, func(c *OperationOverride) string { return c.Title }, t.Title)
	t.Description = said(o, func(c *OperationOverride) string { return c.Description }, t.Description)
	return t
}

// original is the operationId where the tool is called after it, and after it
// alone.
func (o *operation) original(name string) string {
	id := o.node.strAt("operationId")
	if shorten(legal(id), cmp.Or(o.api.options.MaxName, maxName)) != name {
		return ""
	}
	return id
}

// description says what the operation does, for the model.
func (o *operation) description(summary string) string {
	text := strings.TrimSpace(o.node.strAt("description"))
	switch {
	case summary == "" && text == "":
		text = o.method + " " + o.path
	case text == "" || summary == text:
		text = summary
	case summary != "" && !strings.HasPrefix(text, summary):
		text = summary + "\n\n" + text
	}
	if o.node.isTrue("deprecated") {
		text = "Deprecated. " + text
	}
	return cut(text, maxDescription)
}

// group is the operation's first tag, or else the first segment of its path.
func (o *operation) group() string {
	for _, tag := range o.node.get("tags").each() {
		if text := strings.TrimSpace(tag.str()); text != "" {
			return cut(text, maxTitle)
		}
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(o.template(), "/"), "/")
	if strings.Contains(first, "{") {
		return ""
	}
	return first
}

// words are what a search finds the operation by beside its texts.
func (o *operation) words() string {
	all := []string{o.path}
	for _, tag := range o.node.get("tags").each() {
		all = append(all, tag.str())
	}
	return strings.Join(all, " ")
}

// cut shortens s to limit bytes, at the end of a word where one is near.
func cut(s string, limit int) string {
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

// hints tells from the method what a call does. PUT and PATCH overwrite what
// was there and a method that nobody knows may do anything: for them the
// protocol's default stands, destructive. POST adds (the protocol's "only
// additive updates"), unless the operation's own words say that it takes away.
func (o *operation) hints() tenon.Annotations {
	var h tenon.Annotations
	yes, no := &o.api.yes, &o.api.no
	if o.repeatable() {
		h.Idempotent = yes
	}
	h.OpenWorld = said(o, func(c *OperationOverride) *bool { return c.OpenWorld }, nil)
	switch destroys := said(o, func(c *OperationOverride) *bool { return c.Destructive }, nil); {
	case o.safe:
		h.ReadOnly = yes
	case destroys != nil:
		h.Destructive = destroys
	case o.method == "DELETE":
		h.Destructive = yes
	case o.method == "POST" && !o.takesAway():
		h.Destructive = no
	}
	return h
}

// repeatable tells whether two equal requests have the effect of one (RFC 9110
// §9.2.2, or the document says so).
func (o *operation) repeatable() bool {
	if says := said(o, func(c *OperationOverride) *bool { return c.Idempotent }, nil); says != nil && !o.safe {
		return *says
	}
	return o.safe || repeatableMethod(o.method)
}

// repeatableMethod names the methods that are idempotent (RFC 9110 §9.2.2).
func repeatableMethod(method string) bool {
	return isSafe(method) || method == "PUT" || method == "DELETE"
}

// takesAway looks for a destroying word in the operation's name and in the
// last segment of its path.
func (o *operation) takesAway() bool {
	last := o.path[strings.LastIndexByte(o.path, '/')+1:]
	return hasTakingWord(o.node.strAt("operationId")) || hasTakingWord(last)
}

// hasTakingWord looks at the words of s, which end where letters end and before
// a capital that follows a small letter.
func hasTakingWord(s string) bool {
	start := 0
	for i := range len(s) + 1 {
		if i < len(s) && isLetter(s[i]) && (i == start || !isUpper(s[i]) || isUpper(s[i-1])) {
			continue
		}
		if isTakingWord(s[start:i]) {
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

func isTakingWord(w string) bool {
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
