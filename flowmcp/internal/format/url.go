package format

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// pathPlaceholder matches a possible placeholder in a path: {{name}} as documented, {name}
// and :name of real files.
var pathPlaceholder = regexp.MustCompile(`\{\{([A-Za-z0-9_:]+)\}\}|\{([A-Za-z0-9_]+)\}|:([A-Za-z_][A-Za-z0-9_]*)`)

// SplitPath splits root and path at their placeholders once, so that no
// argument is ever parsed for placeholders.
func SplitPath(template string, t *Tool, server map[string]bool) []Piece {
	inserts := map[string]bool{}
	for _, p := range t.Parameters {
		if p.Location == InInsert {
			inserts[p.Key] = true
		}
	}
	var pieces []Piece
	from := 0
	for _, at := range pathPlaceholder.FindAllStringSubmatchIndex(template, -1) {
		p, ok := placeholderAt(template, at, inserts, server)
		if !ok {
			continue
		}
		if at[0] > from {
			pieces = append(pieces, Piece{Text: template[from:at[0]]})
		}
		pieces = append(pieces, p)
		from = at[1]
	}
	if from < len(template) {
		pieces = append(pieces, Piece{Text: template[from:]})
	}
	return pieces
}

func placeholderAt(template string, at []int, inserts, server map[string]bool) (Piece, bool) {
	if at[2] < 0 {
		group := 4
		if at[4] < 0 {
			group = 6
		}
		name := template[at[group]:at[group+1]]
		return Piece{Kind: ArgumentPiece, Text: name}, inserts[name]
	}
	name := template[at[2]:at[3]]
	key := strings.TrimPrefix(name, ServerPrefix)
	switch {
	case inserts[name]:
		return Piece{Kind: ArgumentPiece, Text: name, braces: true}, true
	case server[key]:
		return Piece{Kind: ServerPiece, Text: key}, true
	}
	return Piece{Text: "{{" + name + "}}", unresolved: true}, true
}

// URLWriter builds a URL piece by piece. It tracks the current part, so that an
// argument cannot leave its segment, query value or host label.
type URLWriter struct {
	Out  []byte
	Part URLPart
	Raw  bool // write literals unchanged

	AllowSlash bool // values may contain slashes
}

// URLPart is a part of a URL.
type URLPart uint8

// The parts of a URL.
const (
	InHost URLPart = iota
	InPath
	InSearch
)

// Literal writes text of the schema file and encodes characters that are
// invalid in a URL.
func (w *URLWriter) Literal(text string) {
	if w.Part == InHost {
		rest := text
		if i := strings.Index(rest, "://"); i >= 0 {
			rest = rest[i+3:]
		}
		if strings.ContainsAny(rest, "/?") {
			w.Part = InPath
		}
	}
	if w.Part == InPath && strings.Contains(text, "?") {
		w.Part = InSearch
	}
	if w.Raw {
		w.Out = append(w.Out, text...)
		return
	}
	w.Out = Encode(w.Out, text, func(b byte) bool { return b > ' ' && b < 0x7F && strings.IndexByte(`"<>\^`+"`"+`{|}`, b) < 0 })
}

// Argument writes an argument or server parameter. In the host it returns false
// for other bytes than those in host: a caller's value stays within one label,
// the operator's may span several.
func (w *URLWriter) Argument(text, host string) bool {
	switch w.Part {
	case InHost:
		if text == "" || strings.Trim(text, host) != "" {
			return false
		}
		w.Out = append(w.Out, text...)
	case InPath:
		w.Out = Encode(w.Out, text, func(b byte) bool { return IsSegment(b) || w.AllowSlash && b == '/' })
	case InSearch:
		w.Out = Encode(w.Out, text, func(b byte) bool { return isUnreserved(b) || strings.IndexByte("!$'()*,:@/?", b) >= 0 })
	}
	return true
}

// LabelBytes are the bytes of a host label.
const LabelBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// HasDotSegment reports whether the path has a dot segment.
func (w *URLWriter) HasDotSegment() bool {
	before, _, _ := strings.Cut(string(w.Out), "?")
	for segment := range strings.SplitSeq(before, "/") {
		if segment, _, _ = strings.Cut(segment, ";"); segment == "." || segment == ".." { // some servers treat ..; like ..

			return true
		}
	}
	return false
}

// IsSegment reports whether a byte needs no escape in a path segment (RFC 3986
// §3.3).
func IsSegment(b byte) bool {
	return isUnreserved(b) || strings.IndexByte("!$&'()*+,;=:@", b) >= 0
}

func isUnreserved(b byte) bool {
	return IsAlnum(b) || strings.IndexByte("-._~", b) >= 0
}

// IsAlnum reports whether a byte is an ASCII letter or digit.
func IsAlnum(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

const hexDigits = "0123456789ABCDEF"

// Encode percent-encodes the bytes of text for which keep is false.
func Encode(dst []byte, text string, keep func(byte) bool) []byte {
	for i := range len(text) {
		if b := text[i]; keep(b) {
			dst = append(dst, b)
		} else {
			dst = append(dst, '%', hexDigits[b>>4], hexDigits[b&15])
		}
	}
	return dst
}

// AppendForm encodes a name or value of a query like HTML forms.
func AppendForm(dst []byte, text string) []byte {
	for i := range len(text) {
		switch b := text[i]; {
		case b == ' ':
			dst = append(dst, '+')
		case IsAlnum(b), strings.IndexByte("*-._", b) >= 0:
			dst = append(dst, b)
		default:
			dst = append(dst, '%', hexDigits[b>>4], hexDigits[b&15])
		}
	}
	return dst
}

// A file may send requests only to the hosts in its text: handlers process
// untrusted responses and must not choose other hosts. A placeholder in a host
// name matches one label.

var (
	// authority matches the host and port of a URL in a text.
	authority = regexp.MustCompile(`https?://([^/\s"'` + "`" + `<>?#)\\,;]+)`)
	// InHostName matches placeholders in a host.
	InHostName = regexp.MustCompile(`\$\{[^}\n]*\}|\{\{[\w:]+\}\}|\{\w+\}`)
	// InLabel matches placeholders in a label of a host.
	InLabel     = regexp.MustCompile(`--[a-z0-9-]+--|:[a-z_]\w*`)
	hostPattern = regexp.MustCompile(`^([a-z0-9*-]+\.)*[a-z0-9-]+\.[a-z0-9-]+$`) // the last two labels must be literal
)

// HostsIn returns the patterns of the hosts in a text.
func HostsIn(text string) []string {
	var hosts []string
	for _, m := range authority.FindAllStringSubmatch(InHostName.ReplaceAllString(text, "*"), -1) {
		host := InLabel.ReplaceAllString(strings.ToLower(m[1]), "*")
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			host = host[at+1:]
		}
		host, _, _ = strings.Cut(host, ":")
		if p := strings.Trim(host, "."); hostPattern.MatchString(p) && !slices.Contains(hosts, p) {
			hosts = append(hosts, p)
		}
	}
	return hosts
}

// MatchesHost reports whether a host matches a pattern, label by label.
func MatchesHost(pattern, host string) bool {
	p, h := strings.Split(pattern, "."), strings.Split(strings.ToLower(host), ".")
	if len(p) != len(h) {
		return false
	}
	for i := range p {
		if ok, err := path.Match(p[i], h[i]); err != nil || !ok || h[i] == "" {
			return false
		}
	}
	return true
}

// AllowsHost reports whether the file may send requests to the host of u.
func (f *File) AllowsHost(u *url.URL, base string) bool {
	if SameOrigin(u, base) {
		return true
	}
	return u.Scheme == "https" && slices.ContainsFunc(f.Hosts, func(p string) bool { return MatchesHost(p, u.Hostname()) })
}

// IsRootOrigin reports whether u has the origin of root, which may receive the file's
// server parameters. The host may contain a marker.
func (f *File) IsRootOrigin(u *url.URL, base, marker string) bool {
	if base != "" {
		return SameOrigin(u, base)
	}
	name := u.Hostname()
	return u.Scheme == "https" && PortOf(u) == f.RootPort() && slices.ContainsFunc(HostsIn(f.Main.Get("root").Str()), func(p string) bool {
		labels := strings.Split(p, ".")
		for i, label := range strings.Split(name, ".") {
			if strings.Contains(label, marker) && (i >= len(labels) || !strings.Contains(labels[i], "*")) {
				return false
			}
		}
		return MatchesHost(p, name)
	})
}

// RootPort returns the port of root, 443 by default.
func (f *File) RootPort() string {
	m := rootAuthority.FindStringSubmatch(f.Main.Get("root").Str())
	if m == nil || m[1] == "" {
		return "443"
	}
	return m[1]
}

// rootAuthority matches the port of a root whose host may contain placeholders.
var rootAuthority = regexp.MustCompile(`^https://(?:\{\{[\w:]+\}\}|[^/?#{}:]|\{\w+\}|:[a-z_]\w*)*(?::(\d+))?(?:[/?#]|$)`)

// PortOf returns the port of u, also a default one.
func PortOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}

// SameOrigin reports whether u has the origin of base.
func SameOrigin(u *url.URL, base string) bool {
	b, err := url.Parse(base)
	return base != "" && err == nil && u.Scheme == b.Scheme && strings.EqualFold(u.Hostname(), b.Hostname()) && PortOf(u) == PortOf(b)
}

// maxRootOrigins limits the number of origins of one root with placeholders.
const maxRootOrigins = 1000

// RootOrigins returns the origins that root can expand to with the values that the
// file allows for its placeholders; an asterisk matches a label computed by
// code. A placeholder for free text yields none.
func (t *Tool) RootOrigins(env func(string) (string, bool)) []string {
	texts := []string{""}
	for _, p := range SplitPath(AuthorityIn(t.File.Main.Get("root").Str()), t, t.File.ServerParams) {
		alternatives, ok := t.alternatives(p, env)
		if !ok || len(texts)*len(alternatives) > maxRootOrigins {
			return nil
		}
		var longer []string
		for _, text := range texts {
			for _, a := range alternatives {
				longer = append(longer, text+a)
			}
		}
		texts = longer
	}
	var places []string
	for _, text := range texts {
		if place := OriginPattern(text); place != "" && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return places
}

// HasFreeHost reports whether a caller's free text is part of the host of root.
func (t *Tool) HasFreeHost() bool {
	return slices.ContainsFunc(SplitPath(AuthorityIn(t.File.Main.Get("root").Str()), t, t.File.ServerParams), func(p Piece) bool {
		_, ok := t.alternatives(p, func(string) (string, bool) { return "", true })
		return !ok
	})
}

// alternatives returns the texts that a piece of root can expand to; ok reports
// whether the list is complete.
func (t *Tool) alternatives(p Piece, env func(string) (string, bool)) (texts []string, ok bool) {
	switch p.Kind {
	case LiteralPiece:
	case ServerPiece:
		value, _ := env(p.Text)
		return []string{value}, true
	case ArgumentPiece:
		in := t.InsertParameter(p.Text)
		switch {
		case !in.FromCaller():
			text := in.fixedText(env)
			return []string{text}, true
		case in.IsArgument() && in.Type.Primitive == "enum" && !in.Type.Free:
			return in.Type.Members, true
		}
		return nil, false
	}
	return []string{p.Text}, true
}

var beforePath = regexp.MustCompile(`^[A-Za-z]+://[^/?#\\]*`)

// AuthorityIn returns scheme://host:port of a URL template.
func AuthorityIn(root string) string { return beforePath.FindString(root) }

// OriginPattern returns scheme://host:port with an asterisk for each
// placeholder in the host and without a default port, or "" for other texts.
func OriginPattern(text string) string {
	scheme, host, ok := strings.Cut(strings.ToLower(InHostName.ReplaceAllString(text, "*")), "://")
	if !ok {
		return ""
	}
	host = InLabel.ReplaceAllString(host[strings.LastIndexByte(host, '@')+1:], "*")
	host, port, _ := strings.Cut(host, ":")
	if scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		port = ""
	}
	if port != "" {
		port = ":" + port
	}
	return scheme + "://" + strings.TrimSuffix(host, ".") + port
}

// fixedText returns the value of a parameter without arguments.
func (p *Parameter) fixedText(env func(string) (string, bool)) string {
	var b strings.Builder
	for _, piece := range p.Pieces {
		text := piece.Text
		if piece.Kind == ServerPiece {
			text, _ = env(text)
		}
		b.WriteString(text)
	}
	return b.String()
}
