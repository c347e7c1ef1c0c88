package functionapp

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Resource is a binding of type mcpResourceTrigger.
type Resource struct {
	Binding     string // name of the binding; empty: "context"
	URI         string // a template if it has variables in braces
	Name        string
	Title       string
	Description string
	Media       string
	Size        int64  // bytes; 0: unknown
	Meta        []byte // JSON object; nil: none
}

// ReadResource parses a binding of type mcpResourceTrigger. The error is a
// *[Error] with the key.
func ReadResource(b Object) (Resource, []Diagnostic, error) {
	r := newReader(b)
	t := Resource{
		Binding:     r.need("name"),
		URI:         r.need("uri"),
		Name:        r.need("resourceName"),
		Title:       r.text("title"),
		Description: r.text("description"),
		Media:       r.text("mimeType"),
		Meta:        r.meta("metadata"),
	}
	if size := b.Get("size"); size != nil {
		n, err := strconv.ParseInt(strings.Trim(string(size), `"`), 10, 64)
		if err != nil || n < 0 {
			r.fail(b.bad("size", "must be a number of bytes"))
		}
		t.Size = n
	}
	r.check("uri", func() error { return CheckURI(t.URI) })
	return t, r.notes, r.err
}

// Object writes t as a binding.
func (t Resource) Object() Object {
	o := Object{
		textMember("name", orElse(t.Binding, "context")),
		textMember("type", string(ResourceTrigger)),
		textMember("direction", "in"),
		textMember("uri", t.URI),
		textMember("resourceName", t.Name),
	}
	for _, m := range []struct{ key, value string }{{"title", t.Title}, {"description", t.Description}, {"mimeType", t.Media}} {
		if m.value != "" {
			o = append(o, textMember(m.key, m.value))
		}
	}
	if t.Size > 0 {
		o = append(o, Member{Key: "size", Value: strconv.AppendInt(nil, t.Size, 10)})
	}
	if t.Meta != nil {
		o = append(o, nestedMember("metadata", t.Meta))
	}
	return o
}

// IsTemplate reports whether uri has variables.
func IsTemplate(uri string) bool {
	_, variables, err := splitURI(uri)
	return err == nil && len(variables) > 0
}

// CheckURI returns the violated rule of the host for resource addresses: the
// address is absolute, braces are balanced, nonempty and not nested, variables
// are not adjacent, and their names are distinct and contain none of / # ? &
// and blanks.
func CheckURI(uri string) error {
	texts, variables, err := splitURI(uri)
	if err != nil {
		return err
	}
	seen := map[string]string{}
	for i, v := range variables {
		if i > 0 && texts[i] == "" {
			return fmt.Errorf("the variables {%s} and {%s} touch: a character must stand between them", variables[i-1], v)
		}
		if strings.TrimSpace(v) == "" || strings.ContainsAny(v, "/#?& ") || strings.Contains(strings.ToUpper(v), "%7B") || strings.Contains(strings.ToUpper(v), "%7D") {
			return fmt.Errorf("{%s} is no name for a variable: it must not be blank nor have any of / # ? & and blanks", v)
		}
		key := foldVariable(v)
		if other, twice := seen[key]; twice {
			return fmt.Errorf("the variables {%s} and {%s} have one name: case and signs do not count", other, v)
		}
		seen[key] = v
	}
	parsed, err := url.Parse(strings.Join(texts, "x"))
	if err != nil || !parsed.IsAbs() {
		return fmt.Errorf("%q is no absolute URI", uri)
	}
	return nil
}

// splitURI splits a template: there is one text more than variables.
func splitURI(uri string) (texts, variables []string, err error) {
	rest := uri
	for {
		text, after, found := strings.Cut(rest, "{")
		if strings.Contains(text, "}") {
			return nil, nil, fmt.Errorf("%q has a brace that was not opened", uri)
		}
		texts = append(texts, text)
		if !found {
			return texts, variables, nil
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed || name == "" || strings.Contains(name, "{") {
			return nil, nil, fmt.Errorf("%q has a brace that is empty or not closed", uri)
		}
		variables = append(variables, name)
		rest = tail
	}
}

// URIKey returns the identity of a resource's address in a host's list,
// ignoring case and the names of variables.
func URIKey(uri string) string {
	texts, _, err := splitURI(uri)
	if err != nil {
		return strings.ToLower(uri)
	}
	return strings.ToLower(strings.Join(texts, "{_}"))
}

// foldVariable returns the identity of a variable's name.
func foldVariable(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name))
}

// Template is the address of a resource with variables.
type Template struct {
	variables []string
	form      *regexp.Regexp
}

// ParseTemplate parses an address with variables. See [CheckURI] for the
// errors.
func ParseTemplate(uri string) (*Template, error) {
	if err := CheckURI(uri); err != nil {
		return nil, err
	}
	texts, variables, err := splitURI(uri)
	if err != nil {
		return nil, err
	}
	var form strings.Builder
	form.WriteString("(?is)^")
	for i, text := range texts {
		form.WriteString(regexp.QuoteMeta(text))
		switch {
		case i == len(variables):
		case strings.HasSuffix(text, "?") || strings.HasSuffix(text, "&"):
			form.WriteString("([^&#]+)")
		default:
			form.WriteString("([^/?#]+)")
		}
	}
	compiled, err := regexp.Compile(form.String() + "$")
	return &Template{variables: variables, form: compiled}, err
}

// Match returns the values of the variables in uri, still escaped. A variable
// has at least one character and none of / ? # or, after ? or &, of & #. The
// rest is compared ignoring case.
func (t *Template) Match(uri string) (map[string]string, bool) {
	values := t.form.FindStringSubmatch(uri)
	if values == nil {
		return nil, false
	}
	found := make(map[string]string, len(t.variables))
	for i, v := range t.variables {
		found[v] = values[i+1]
	}
	return found, true
}
