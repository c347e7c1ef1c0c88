package functionapp

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Host is a host.json: the app and its worker.
type Host struct {
	Profile     string // configurationProfile; empty or "default": the functions are in function.json
	Server      ServerInfo
	Anonymous   bool          // callers need no key
	Timeout     time.Duration // time limit of a function; 0: not set; negative: none
	Bundle      string        // versions of the extension bundle, "[4.*, 5.0.0)"; empty: not named
	Executable  string        // the worker; empty: the app has none
	Args        []string
	Dir         string // working directory of the worker, relative to the app; empty: the app's folder
	Port        int    // port of the worker; 0: any free port
	Forwards    bool   // functions with HTTP bindings receive the request itself
	StderrMixed bool   // only lines of stderr that contain error or fail are errors; false: every line is
}

// ServerInfo is how the app's MCP server identifies itself.
type ServerInfo struct{ Name, Version, Instructions string }

// bundleID is the extension bundle with the MCP extension.
const bundleID = "Microsoft.Azure.Functions.ExtensionBundle"

// ParseHost parses a host.json. %NAME% in the worker's description is replaced
// with lookup; nil finds nothing. The error is a *[Error].
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

// Append writes h as a file. The output is deterministic.
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

// port parses a number, or a string with one, as in some samples.
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

// expand replaces %NAME% by the value from lookup, or leaves it.
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
		if !known { // this percent sign is literal; the next one may open a name
			b.WriteByte('%')
			s = rest
			continue
		}
		b.WriteString(value)
		s = after
	}
}

// maxSpan exceeds what hosts allow, and cannot overflow.
const maxSpan = 10000 * 24 * time.Hour

// parseSpan parses a .NET TimeSpan: d or [d.]hh:mm[:ss[.f]], -1 for infinite.
// As in .NET, three numbers are days, hours and minutes if the first is not a
// valid hour. Fractions of a second are dropped.
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
	case !both || strings.Contains(day, ":"): // the point belongs to the seconds
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
