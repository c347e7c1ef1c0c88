package functionapp

import (
	"bytes"
	"fmt"
	"time"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Context is what a function learns about its call.
type Context struct {
	Name      string // name of the tool or the prompt
	URI       string // address of the resource; empty: not a resource
	Arguments []byte // JSON object; empty: none. Not for resources
	Session   string // empty: none
	Client    Client
	Transport Transport
}

// Client is the calling program.
type Client struct{ Name, Version string }

// Transport is how the call arrived.
type Transport struct {
	Name       string // http-streamable, http-sse, http or unknown; empty: not set
	Session    string
	Properties []byte // JSON object with the headers of the request; nil: none
}

// Append writes c as the JSON object that a host passes to a function. Empty
// members are left out.
func (c Context) Append(dst []byte) []byte {
	var o Object
	if c.URI != "" {
		o = append(o, textMember("uri", c.URI))
	} else {
		o = append(o, textMember("name", c.Name))
	}
	if len(c.Arguments) > 0 {
		o = append(o, Member{Key: "arguments", Value: c.Arguments})
	}
	if c.Session != "" {
		o = append(o, textMember("sessionid", c.Session))
	}
	if c.Client.Name != "" {
		client := Object{textMember("name", c.Client.Name), textMember("version", c.Client.Version)}
		o = append(o, Member{Key: "clientinfo", Value: client.Append(nil)})
	}
	if c.Transport.Name != "" {
		t := Object{textMember("name", c.Transport.Name)}
		if c.Transport.Session != "" {
			t = append(t, textMember("sessionId", c.Transport.Session))
		}
		properties := c.Transport.Properties
		if properties == nil {
			properties = []byte("{}")
		}
		t = append(t, Member{Key: "properties", Value: properties})
		o = append(o, Member{Key: "transport", Value: t.Append(nil)})
	}
	return o.Append(dst)
}

// ReadContext parses the value of a trigger. Hosts wrap it in up to two JSON
// strings, simple ones in none: it is unwrapped until it is an object, whose
// members are left unchanged.
func ReadContext(value []byte) (Context, error) {
	for i := 0; i < maxTextLayers && len(value) > 0 && value[0] == '"'; i++ {
		if _, err := rawjson.Parse(value); err != nil {
			return Context{}, &Error{What: "the context of the call is not JSON", Err: err}
		}
		value = bytes.TrimSpace(rawjson.AppendUnescaped(nil, value[1:len(value)-1]))
	}
	doc, err := parse(value, "the context of the call")
	if err != nil {
		return Context{}, err
	}
	r := newDocReader(doc)
	c := Context{Name: r.text("name"), URI: r.text("uri"), Session: r.text("sessionid")}
	if args := r.o.Get("arguments"); args != nil {
		if args[0] != '{' {
			return c, r.o.bad("arguments", "must be an object")
		}
		c.Arguments = args
	}
	client, transport := r.down("clientinfo"), r.down("transport")
	c.Client = Client{Name: client.text("name"), Version: client.text("version")}
	c.Transport = Transport{Name: transport.text("name"), Session: transport.text("sessionId"), Properties: transport.o.Get("properties")}
	return c, r.err
}

// Invocation is a host's request to run a function: the body of POST
// /<function>.
type Invocation struct {
	Function string // name of the function
	Binding  string // name of its trigger
	Type     Type   // type of the trigger: determines the key of the metadata
	Context  Context
	Params   map[string]string // values of a resource template's variables
	Inputs   Object            // values of additional bindings, as in Data
	Time     time.Time         // id of the call
	ID       string            // a fresh GUID
}

// Append writes i like Azure's host. Every string in Data and Metadata is JSON
// once more, so the context, already a text, is wrapped twice.
func (i Invocation) Append(dst []byte) []byte {
	context := rawjson.AppendString(nil, rawjson.AppendString(nil, i.Context.Append(nil)))
	metadata := i.metadata()
	if i.Context.Session != "" {
		metadata = append(metadata, nestedMember("mcpsessionid", rawjson.AppendString(nil, i.Context.Session)))
	}
	metadata = append(metadata, Member{Key: i.Binding, Value: context})
	sys := Object{
		textMember("MethodName", i.Function),
		textMember("UtcNow", i.Time.UTC().Format(time.RFC3339Nano)),
		textMember("RandGuid", i.ID),
	}
	metadata = append(metadata, Member{Key: "sys", Value: sys.Append(nil)})
	data := append(Object{{Key: i.Binding, Value: context}}, i.Inputs...)
	return Object{{Key: "Data", Value: data.Append(nil)}, {Key: "Metadata", Value: metadata.Append(nil)}}.Append(dst)
}

// metadata returns what a host sends in addition to the context. Its copy of
// the context is written by a serializer that does not know JSON values: only
// the kinds of arguments are left.
func (i Invocation) metadata() Object {
	if i.Type == ResourceTrigger {
		o := Object{
			nestedMember("mcpresourceuri", rawjson.AppendString(nil, i.Context.URI)),
			{Key: "mcpresourcecontext", Value: Object{textMember("Uri", i.Context.URI), textMember("SessionId", i.Context.Session)}.Append(nil)},
		}
		for _, name := range sortedKeys(i.Params) {
			o = append(o, nestedMember(name, rawjson.AppendString(nil, i.Params[name])))
		}
		return o
	}
	prefix := "mcptool"
	if i.Type == PromptTrigger {
		prefix = "mcpprompt"
	}
	kinds, texts := i.arguments()
	context := Object{textMember("Name", i.Context.Name), {Key: "Arguments", Value: kinds.Append(nil)}, textMember("SessionId", i.Context.Session)}
	o := Object{{Key: prefix + "context", Value: context.Append(nil)}}
	if len(i.Context.Arguments) > 0 {
		o = append(o, Member{Key: prefix + "args", Value: texts.Append(nil)})
	}
	return o
}

// arguments returns for each argument the number of its kind in .NET and its
// text.
func (i Invocation) arguments() (kinds, texts Object) {
	if len(i.Context.Arguments) == 0 {
		return nil, nil
	}
	o, err := parseObject(i.Context.Arguments, "the arguments")
	if err != nil {
		return nil, nil
	}
	for _, m := range o {
		kinds = append(kinds, Member{Key: m.Key, Value: fmt.Appendf(nil, `{"ValueKind":%d}`, kindInNet(m.Value[0]))})
		text := string(m.Value)
		switch text[0] {
		case '"':
			text = unquote(m.Value)
		case 'n':
			text = ""
		case 't':
			text = "True"
		case 'f':
			text = "False"
		}
		texts = append(texts, textMember(m.Key, text))
	}
	return kinds, texts
}

// kindInNet returns System.Text.Json's number for the kind of value that begins
// with c.
func kindInNet(c byte) int {
	switch c {
	case '{':
		return 1
	case '[':
		return 2
	case '"':
		return 3
	case 't':
		return 5
	case 'f':
		return 6
	case 'n':
		return 7
	}
	return 4
}

// ReadInvocation parses the body of a call: the context under the name of the
// trigger's binding. Metadata is ignored; its arguments are unusable.
func ReadInvocation(body []byte, binding string) (Context, error) {
	doc, err := parse(body, "the body of the call")
	if err != nil {
		return Context{}, err
	}
	data := childAt(doc, doc.Root(), "Data")
	if doc.Kind(data) != rawjson.Object {
		return Context{}, &Error{Key: "Data", What: "is missing: it holds the value of the trigger"}
	}
	value := childAt(doc, data, binding)
	if value == rawjson.None {
		return Context{}, &Error{Key: "Data", What: fmt.Sprintf("has nothing for the trigger %q", binding)}
	}
	return ReadContext(doc.AppendCompact(nil, value))
}
