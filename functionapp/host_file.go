package functionapp

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Host is a host.json: what an app says about itself and about its worker.
type Host struct {
	Profile     string // configurationProfile; empty or "default": the functions are in function.json
	Server      ServerInfo
	Anonymous   bool          // callers of the app need no key
	Timeout     time.Duration // the longest that a function may run; 0: not said; negative: without end
	Bundle      string        // versions of the extension bundle, "[4.*, 5.0.0)"; empty: none is named
	Executable  string        // the worker; empty: the app has none
	Args        []string
	Dir         string // where the worker is started, relative to the app; empty: in the app
	Port        int    // where the worker listens; 0: any free port
	Forwards    bool   // functions with HTTP bindings get the request itself
	StderrMixed bool   // of what the worker writes to stderr only lines that say error or fail are errors; false: every line is
}

// ServerInfo is how the app's MCP server names itself.
type ServerInfo struct{ Name, Version, Instructions string }

// bundleID is the extension bundle in which the MCP extension is.
const bundleID = "Microsoft.Azure.Functions.ExtensionBundle"

// ParseHost reads a host.json. %NAME% in the worker's description is replaced
// by what lookup knows under NAME; nil knows nothing. The error is a *[Error].
func ParseHost(text []byte, lookup func(name string) (string, bool)) (Host, []Diagnostic, error) {
	doc, err := parseFile(text, HostFile)
	if err != nil {
		return Host{}, nil, err
	}
	r := newDocReader(doc)
	h := Host{Profile: r.text("configurationProfile")}
	if v := r.text("version"); r.err == nil && v != "" && !strings.HasPrefix(v, "2.") {
		r.note("version", fmt.Sprintf("%q is not the version that is known here, 2.0", v))
	}
	if t := r.text("functionTimeout"); t != "" {
		r.check("functionTimeout", func() (err error) {
			h.Timeout, err = parseSpan(t)
			return err
		})
	}
	h.readExtensions(r.down("extensions").down("mcp"))
	h.Bundle = r.down("extensionBundle").text("version")
	h.readHandler(r.down("customHandler"), lookup)
	return h, r.notes, r.err
}

func (h *Host) readExtensions(mcp *reader) {
	h.Server = ServerInfo{Name: mcp.text("serverName"), Version: mcp.text("serverVersion"), Instructions: mcp.text("instructions")}
	h.Anonymous = strings.EqualFold(mcp.down("system").text("webhookAuthorizationLevel"), "anonymous")
}

func (h *Host) readHandler(handler *reader, lookup func(string) (string, bool)) {
	h.Forwards = handler.flag("enableForwardingHttpRequest")
	h.Port = handler.port("port")
	d := handler.down("description")
	h.Executable = expand(d.text("defaultExecutablePath"), lookup)
	h.Dir = expand(d.text("workingDirectory"), lookup)
	if d.o.Get("useStdErrorStreamForErrorsOnly") != nil {
		h.StderrMixed = !d.flag("useStdErrorStreamForErrorsOnly")
	}
	if args := d.o.Get("arguments"); args != nil {
		doc, err := rawjson.Parse(args)
		if err != nil || doc.Kind(doc.Root()) != rawjson.Array {
			d.fail(d.o.bad("arguments", "must be a list of strings"))
			return
		}
		for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
			arg := string(doc.Raw(n))
			if doc.Kind(n) == rawjson.String {
				arg = doc.Str(n)
			}
			h.Args = append(h.Args, expand(arg, lookup))
		}
	}
}

// Append writes h as a file: the same bytes for the same Host.
func (h Host) Append(dst []byte) []byte {
	o := Object{textMember("version", "2.0")}
	if h.Profile != "" {
		o = append(o, textMember("configurationProfile", h.Profile))
	}
	if h.Timeout != 0 {
		o = append(o, textMember("functionTimeout", formatSpan(h.Timeout)))
	}
	if h.Bundle != "" {
		o = append(o, objectMember("extensionBundle", textMember("id", bundleID), textMember("version", h.Bundle)))
	}
	if mcp := h.extension(); len(mcp) > 0 {
		o = append(o, objectMember("extensions", objectMember("mcp", mcp...)))
	}
	if h.Executable != "" {
		o = append(o, objectMember("customHandler", h.handler()...))
	}
	return appendFile(dst, o)
}

func (h Host) extension() (o Object) {
	for _, m := range []struct{ key, value string }{
		{"serverName", h.Server.Name}, {"serverVersion", h.Server.Version}, {"instructions", h.Server.Instructions},
	} {
		if m.value != "" {
			o = append(o, textMember(m.key, m.value))
		}
	}
	if h.Anonymous {
		o = append(o, objectMember("system", textMember("webhookAuthorizationLevel", "Anonymous")))
	}
	return o
}

func (h Host) handler() Object {
	d := Object{
		textMember("defaultExecutablePath", h.Executable),
		textMember("workingDirectory", h.Dir),
		{Key: "arguments", Value: appendStrings(nil, h.Args)},
	}
	if h.StderrMixed {
		d = append(d, flagMember("useStdErrorStreamForErrorsOnly", false))
	}
	o := Object{objectMember("description", d...), flagMember("enableForwardingHttpRequest", h.Forwards)}
	if h.Port != 0 {
		o = append(o, Member{Key: "port", Value: strconv.AppendInt(nil, int64(h.Port), 10)})
	}
	return o
}

// port reads a number, or a string with one, as some samples have it.
func (r *reader) port(key string) int {
	v := r.o.Get(key)
	if v == nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.Trim(string(v), `"`), 10, 16)
	if err != nil || n == 0 {
		r.fail(r.o.bad(key, "must be a port, 1 to 65535"))
	}
	return int(n)
}

// expand replaces %NAME% by what lookup knows; what it does not know stays.
func expand(s string, lookup func(string) (string, bool)) string {
	if lookup == nil {
		return s
	}
	var b strings.Builder
	for {
		before, rest, opened := strings.Cut(s, "%")
		b.WriteString(before)
		if !opened {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "%")
		value, known := "", false
		if closed && name != "" {
			value, known = lookup(name)
		}
		if !known { // this sign is itself; the next one may open a name
			b.WriteByte('%')
			s = rest
			continue
		}
		b.WriteString(value)
		s = after
	}
}

// maxSpan is more than any host allows, and far from an overflow.
const maxSpan = 10000 * 24 * time.Hour

// parseSpan reads a span of time as .NET writes it: d or [d.]hh:mm[:ss[.f]], -1
// without end. Where the first of three numbers is no hour, they are days, hours
// and minutes, as there. Fractions of a second are cut off.
func parseSpan(s string) (time.Duration, error) {
	text := strings.TrimSpace(s)
	if text == "-1" || text == "-00:00:00.0010000" || text == "-00:00:00.001" { // Timeout.InfiniteTimeSpan
		return -1, nil
	}
	var span time.Duration
	day, clock, both := strings.Cut(text, ".")
	switch {
	case !strings.Contains(text, ":"):
		day, clock = text, "00:00"
	case !both || strings.Contains(day, ":"): // the point is a second's
		day, clock = "0", text
	}
	if clock, fraction, found := strings.Cut(clock, "."); found && (fraction == "" || len(fraction) > 7 || strings.Trim(fraction, "0123456789") != "" || strings.Count(clock, ":") != 2) {
		return 0, errSpan(s)
	}
	clock, _, _ = strings.Cut(clock, ".")
	days, err := strconv.ParseUint(day, 10, 16)
	if err != nil {
		return 0, errSpan(s)
	}
	span = time.Duration(days) * 24 * time.Hour
	parts := strings.Split(clock, ":")
	if first, err := strconv.ParseUint(parts[0], 10, 16); err == nil && first > 23 && len(parts) == 3 && !both {
		span, parts = time.Duration(first)*24*time.Hour, parts[1:]
	}
	units := []struct {
		length time.Duration
		most   uint64
	}{{time.Hour, 23}, {time.Minute, 59}, {time.Second, 59}}
	if len(parts) < 2 || len(parts) > len(units) {
		return 0, errSpan(s)
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || n > units[i].most {
			return 0, errSpan(s)
		}
		span += time.Duration(n) * units[i].length
	}
	if span == 0 || span > maxSpan {
		return 0, errSpan(s)
	}
	return span, nil
}

func errSpan(s string) error {
	return &Error{What: fmt.Sprintf("%q is no span of time: take hh:mm:ss, or -1 for no end", s)}
}

func formatSpan(d time.Duration) string {
	if d < 0 {
		return "-1"
	}
	s := int64(d / time.Second)
	text := fmt.Sprintf("%02d:%02d:%02d", s/3600%24, s/60%60, s%60)
	if days := s / 86400; days > 0 {
		text = fmt.Sprintf("%d.%s", days, text)
	}
	return text
}
