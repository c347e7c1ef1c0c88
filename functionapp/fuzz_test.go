package functionapp_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenon-mcp/tenon/functionapp"
)

// FuzzParseFunction: what can be read can be written, reads the same again,
// and is the same file when it is written once more; every trigger that can be
// read says the same when it was written.
func FuzzParseFunction(f *testing.F) {
	f.Add([]byte(`{"bindings":[{"name":"context","type":"mcpToolTrigger","toolName":"t","description":"","toolProperties":"[{\"propertyName\":\"x\",\"propertyType\":\"string\",\"enumValues\":[\"a\"]}]","outputSchema":"{\"type\":\"object\"}","metadata":"{}"}]}`))
	f.Add([]byte(`{"Bindings":[{"Name":"r","Type":"mcpResourceTrigger","uri":"a://{x}","resourceName":"n","size":"3"}],"scriptFile":"x"}`))
	f.Add([]byte(`{"bindings":[{"name":"p","type":"MCPPROMPTTRIGGER","promptName":"p","promptArguments":"[{\"name\":\"a\"}]","icons":[]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := functionapp.ParseFunction(text)
		if err != nil {
			return
		}
		written := file.Append(nil)
		again, err := functionapp.ParseFunction(written)
		if err != nil {
			t.Fatalf("%s\n%v", written, err)
		}
		if rewritten := again.Append(nil); string(rewritten) != string(written) {
			t.Errorf("written again: %s\nfirst: %s", rewritten, written)
		}
		for i, b := range file.Bindings {
			sameTrigger(t, b, again.Bindings[i])
		}
	})
}

// sameTrigger reads two copies of a binding, and what is written of it.
func sameTrigger(t *testing.T, a, b functionapp.Object) {
	offsets := cmpopts.IgnoreFields(functionapp.Error{}, "Offset", "Err")
	one, notes, err := functionapp.ReadTool(a)
	two, others, err2 := functionapp.ReadTool(b)
	if diff := cmp.Diff(one, two, equalSchemas); diff != "" || len(notes) != len(others) || (err == nil) != (err2 == nil) {
		t.Errorf("%s %v %v", diff, err, err2)
	}
	if err == nil {
		three, _, err := functionapp.ReadTool(one.Object())
		if diff := cmp.Diff(one, three, equalSchemas, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("a tool that was written: %s %v", diff, err)
		}
		if !json.Valid(one.InputSchema()) {
			t.Errorf("the input schema is no JSON: %s", one.InputSchema())
		}
	}
	if r, _, err := functionapp.ReadResource(a); err == nil {
		again, _, err := functionapp.ReadResource(r.Object())
		if diff := cmp.Diff(r, again); diff != "" || err != nil {
			t.Errorf("a resource that was written: %s %v", diff, err)
		}
		if functionapp.IsTemplate(r.URI) {
			if _, err := functionapp.ParseTemplate(r.URI); err != nil {
				t.Errorf("%q passed the rule: %v", r.URI, err)
			}
		}
	}
	if p, _, err := functionapp.ReadPrompt(a); err == nil {
		again, _, err := functionapp.ReadPrompt(p.Object())
		if diff := cmp.Diff(p, again, offsets, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("a prompt that was written: %s %v", diff, err)
		}
	}
}

// FuzzParseHost: what can be read and names a worker reads the same after it
// was written.
func FuzzParseHost(f *testing.F) {
	f.Add([]byte(`{"version":"2.0","functionTimeout":"1.02:03:04","extensionBundle":{"version":"[4.*]"},"extensions":{"mcp":{"serverName":"n","system":{"webhookAuthorizationLevel":"anonymous"}}},"customHandler":{"description":{"defaultExecutablePath":"w","arguments":["a"]},"port":"8000"}}`))
	f.Add([]byte(`{"CustomHandler":{"Description":{"DefaultExecutablePath":"%DIR%%","useStdErrorStreamForErrorsOnly":"false"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, _, err := functionapp.ParseHost(text, nil)
		if err != nil || h.Executable == "" {
			return
		}
		again, _, err := functionapp.ParseHost(h.Append(nil), nil)
		if diff := cmp.Diff(h, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	})
}

// FuzzReadResult: whatever a worker answers is a result or an error, and a
// result reads the same after it was written.
func FuzzReadResult(f *testing.F) {
	f.Add([]byte(`{"Outputs":{},"Logs":["a"],"ReturnValue":`+envelope(f, "call_tool_result", `{"content":[{"type":"text","text":"a"}],"structuredContent":{},"isError":true,"_meta":{}}`, "")+`}`), true)
	f.Add([]byte(`{"ReturnValue":`+envelope(f, "multi_content_result", `[{"type":"resource","resource":{"uri":"a:b","blob":"AA=="}},{"type":"resource_link","uri":"a:b"}]`, "1")+`}`), true)
	f.Add([]byte(`{"returnValue":{"a":[1]}}`), false)
	f.Fuzz(func(t *testing.T, body []byte, wrapped bool) {
		r, err := functionapp.ReadResponse(body)
		if err != nil {
			return
		}
		if again, err := functionapp.ReadResponse(r.Append(nil)); err != nil || cmp.Diff(r, again, cmpopts.EquateEmpty()) != "" {
			t.Errorf("the answer, written: %v %s", err, cmp.Diff(r, again))
		}
		if result, err := functionapp.ReadResult(r.ReturnValue, wrapped); err == nil {
			again, err := functionapp.ReadResult(functionapp.AppendResult(nil, result), true)
			if diff := cmp.Diff(result, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("the result, written: %v %s", err, diff)
			}
		}
		if messages, err := functionapp.ReadMessages(r.ReturnValue, wrapped); err == nil {
			again, err := functionapp.ReadMessages(functionapp.AppendMessages(nil, messages), true)
			if diff := cmp.Diff(messages, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("the messages, written: %v %s", err, diff)
			}
		}
	})
}

// FuzzReadInvocation: whatever a host sends is a context or an error, and a
// context reads the same after it was written as Azure's host does.
func FuzzReadInvocation(f *testing.F) {
	f.Add([]byte(`{"Data":{"context":"\"{\\\"name\\\":\\\"t\\\",\\\"arguments\\\":{\\\"a\\\":[]},\\\"sessionid\\\":\\\"s\\\"}\""}}`))
	f.Add([]byte(`{"Data":{"context":{"uri":"a:b","transport":{"name":"http","properties":{}},"clientinfo":{"name":"c"}}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := functionapp.ReadInvocation(body, "context")
		if err != nil {
			return
		}
		sent := functionapp.Invocation{Function: "F", Binding: "context", Type: functionapp.ToolTrigger, Context: c}.Append(nil)
		if !json.Valid(sent) {
			t.Fatalf("no JSON: %s", sent)
		}
		again, err := functionapp.ReadInvocation(sent, "context")
		if err != nil {
			t.Fatal(err)
		}
		third, err := functionapp.ReadContext(again.Append(nil))
		if diff := cmp.Diff(again, third); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	})
}
