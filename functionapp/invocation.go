package functionapp

import (
	"bytes"
	"fmt"
	"time"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Context is what a function learns of the call that it is run for.
type Context struct {
	Name      string // of the tool or the prompt
	URI       string // of the resource; empty: it is not about one
	Arguments []byte // JSON object; empty: none were sent. Not for resources
	Session   string // empty: there is none
	Client    Client
	Transport Transport
}

// Client is the program that calls.
type Client struct{ Name, Version string }

// Transport is the way by which the call came.
type Transport struct {
	Name       string // http-streamable, http-sse, http or unknown; empty: not known
	Session    string
	Properties []byte // JSON object, with the headers of the request; nil: none
}

// Append writes c as the JSON object that a host gives to a function. What is
// empty is left out.
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

// ReadContext reads the value of a trigger. Hosts wrap it in up to two JSON
// strings, simple ones not at all: it is unwrapped until an object stands
// there, and nothing inside of that is touched.
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

// Invocation is what a host sends to have a function run: the body of
// POST /<function>.
type Invocation struct {
	Function string // the name of the function
	Binding  string // the name of its trigger
	Type     Type   // of the trigger: says how the metadata is called
	Context  Context
	Params   map[string]string // the values of a resource template's variables
	Inputs   Object            // the values of the bindings beside the trigger, as they stand in Data
	Time     time.Time         // of the call
	ID       string            // a fresh GUID
}

// Append writes i as Azure's host does. Every string in Data and Metadata is
// JSON once more, so the context, which is a text already, is wrapped twice.
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

// metadata is what a host tells beside the context. Its copy of the context is
// written by a serializer that knows nothing of JSON values: of arguments only
// their kinds are left.
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

// arguments returns, for each argument, the number of its kind in .NET and its
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

// kindInNet is System.Text.Json's number for the kind of value that begins
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

// ReadInvocation reads the body of a call: the context under the name of the
// trigger's binding. Metadata is not looked at; what it says of arguments
// cannot be used.
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
