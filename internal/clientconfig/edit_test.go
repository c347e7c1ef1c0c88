package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

func server() *Server {
	return &Server{Name: "shop", Command: "/opt/tenon", Args: []string{"serve", `C:\a "b"<&>.yaml`, "☃"}}
}

// Texts as people and clients write them, and what becomes of them. A removal gives
// the text that was there.
func TestJSONIsEditedAsItIsWritten(t *testing.T) {
	small := &Server{Name: "shop", Command: "/opt/tenon", Args: []string{"serve"}}
	entry := func(indent, unit string) string {
		lines := []string{`"shop": {`, unit + `"command": "/opt/tenon",`, unit + `"args": [`, unit + unit + `"serve"`, unit + `]`, `}`}
		return strings.Join(lines, "\n"+indent)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"other members", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"mcpServers\": {\n    " + entry("    ", "  ") + "\n  }\n}\n"},
		{
			"comments and a trailing comma", "// mine\n{\n\t\"mcpServers\": { // all\n\t\t\"b\": {}, // last\n\t},\n}",
			"// mine\n{\n\t\"mcpServers\": { // all\n\t\t\"b\": {}, // last\n\t\t" + entry("\t\t", "\t") + ",\n\t},\n}",
		},
		{
			"a comment behind the last", "{\n  \"mcpServers\": {\n    \"b\": {} // last\n  }\n}",
			"{\n  \"mcpServers\": {\n    \"b\": {}, // last\n    " + entry("    ", "  ") + "\n  }\n}",
		},
		{
			"a comment behind the last on one line", "{\"mcpServers\": {\"b\": {} // last\n}}",
			"{\"mcpServers\": {\"b\": {}, // last\n    " + entry("    ", "  ") + "\n}}",
		},
		{"one line", `{"mcpServers":{"b":{}}}`, `{"mcpServers":{"b":{}, ` + entry("    ", "  ") + `}}`},
		{"a byte order mark", "\ufeff{\r\n    \"a\": 1\r\n}", "\ufeff{\r\n    \"a\": 1,\r\n    \"mcpServers\": {\r\n        " + strings.ReplaceAll(entry("        ", "    "), "\n", "\r\n") + "\r\n    }\r\n}"},
		{"a container before other members", "{\n  \"mcpServers\": {},\n  \"a\": [1,\n  2]\n}", "{\n  \"mcpServers\": {\n    " + entry("    ", "  ") + "\n  },\n  \"a\": [1,\n  2]\n}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Find("cursor")
			got, err := c.Add([]byte(tt.text), small)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			again, err := c.Add(got, small)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("the same server once more: %v\n%s", err, again)
			}
			back, removed, err := c.Remove(got, "shop")
			if err != nil || string(back) != tt.text || removed.Command != "/opt/tenon" {
				t.Errorf("removed: %v\n%q\nwas\n%q", err, back, tt.text)
			}
		})
	}
}

func TestTOMLIsEditedAsItIsWritten(t *testing.T) {
	const entry = "[mcp_servers.shop]\ncommand = \"/opt/tenon\"\nargs = [\"serve\", \"C:\\\\a \\\"b\\\"<&>.yaml\", \"☃\"]"
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", entry + "\n"},
		{"other tables", "model = \"o\" # mine\n\n[mcp_servers.b]\ncommand = 'x'\n\n# end\n", "model = \"o\" # mine\n\n[mcp_servers.b]\ncommand = 'x'\n\n# end\n\n" + entry + "\n"},
		{"no end of line", "a = 1", "a = 1\n\n" + entry},
		{"a header in a text", "a = \"\"\"\n[mcp_servers.shop]\n\"\"\"\n", "a = \"\"\"\n[mcp_servers.shop]\n\"\"\"\n\n" + entry + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Find("codex")
			got, err := c.Add([]byte(tt.text), server())
			if err != nil || string(got) != tt.want {
				t.Fatalf("%v\n%s\nwant\n%s", err, got, tt.want)
			}
			// What others append stays, and so does what leads to it.
			const more = "\n# next\n[z]\nb = 2\n"
			if strings.HasSuffix(string(got), "\n") {
				without, _, err := c.Remove(append(bytes.Clone(got), more...), "shop")
				if err != nil || string(without) != tt.text+more {
					t.Errorf("%v\n%q", err, without)
				}
			}
			back, _, err := c.Remove(got, "shop")
			if err != nil || string(back) != tt.text {
				t.Errorf("%v\n%q, was %q", err, back, tt.text)
			}
		})
	}
}

func TestTOMLEntryWithTablesBelowIt(t *testing.T) {
	c := Find("codex")
	text := "[mcp_servers.shop]\ncommand = 'tenon'\nargs = ['serve']\n[mcp_servers.shop.env]\nA = 'b'\n\n[x]\n"
	got, err := c.Add([]byte(text), server())
	if err != nil || strings.Contains(string(got), "env") || !strings.HasSuffix(string(got), "\n\n[x]\n") {
		t.Errorf("%v\n%s", err, got)
	}
	for _, other := range []string{
		"mcp_servers = { shop = { command = 'tenon', args = ['serve'] } }\n",
		"[mcp_servers]\nshop.command = 'tenon'\nshop.args = ['serve']\n",
		"mcp_servers = {}\n",
	} {
		if got, err := c.Add([]byte(other), server()); !errors.Is(err, errNotEdited) {
			t.Errorf("%s: %v\n%s", other, err, got)
		}
	}
}

// What tenon did not add is neither replaced nor removed.
func TestForeignServers(t *testing.T) {
	for client, text := range map[string]string{
		"cursor": `{"mcpServers":{"shop":{"command":"npx","args":["-y","shop"]}}}`,
		"vscode": `{"servers":{"shop":{"type":"http","url":"https://x.test/serve","args":7}}}`,
		"codex":  "[mcp_servers.shop]\nurl = 'https://x.test'\n",
	} {
		if _, err := Find(client).Add([]byte(text), server()); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: add: %v", client, err)
		}
		if _, _, err := Find(client).Remove([]byte(text), "shop"); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: remove: %v", client, err)
		}
		if _, _, err := Find(client).Remove([]byte(text), "other"); !errors.Is(err, ErrNoEntry) {
			t.Errorf("%s: remove: %v", client, err)
		}
	}
}

func TestOurs(t *testing.T) {
	for _, tt := range []struct {
		words string
		want  bool
	}{
		{"/opt/tenon serve a.yaml", true},
		{`C:\bin\tenon.exe serve a.yaml`, true},
		{"npx -y tenon-mcp@1.2.3 serve a.yaml", true},
		{"/opt/tenon-linux-amd64 serve", true},
		{"/opt/tenon demo", false},
		{"/opt/other serve tenon", false},
		{"serve tenon", false},
		{"", false},
	} {
		words := strings.Split(tt.words, " ")
		s := Server{Command: words[0], Args: words[1:]}
		if s.Ours() != tt.want {
			t.Errorf("%s: %v", tt.words, s.Ours())
		}
	}
}

// A broken text says where, does not say what stands there, and is not edited.
func TestBrokenTexts(t *testing.T) {
	for _, tt := range []struct {
		client, text string
		line, column int
	}{
		{"cursor", "{\n  \"a\": s3cret\n}", 2, 8},
		{"cursor", "{\n  \"a\": \"s3cret\" \"b\"\n}", 2, 17},
		{"cursor", "{", 1, 2},
		{"cursor", "[1]", 1, 1},
		{"cursor", strings.Repeat("[", 5000), 1, 1},
		{"codex", "a = 1\nb = s3cret\n", 2, 5},
		{"codex", "a = 1\na = 2\n", 2, 1},
		{"codex", "a = " + strings.Repeat("[", 20000), 1, 1},
		{"codex", "a = '\xff'", 1, 1},
	} {
		got, err := Find(tt.client).Add([]byte(tt.text), server())
		bad, ok := errors.AsType[*SyntaxError](err)
		if got != nil || !ok || bad.Line != tt.line || bad.Column != tt.column || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%.40q: %v", tt.text, err)
		}
	}
	for _, text := range []string{`{"mcpServers":7}`, `{"mcpServers":{},"mcpServers":{}}`, `{"mcpServers":{"a":{},"a":{}}}`} {
		if _, err := Find("cursor").Add([]byte(text), server()); err == nil {
			t.Errorf("%s is edited", text)
		}
	}
}

func TestServerNames(t *testing.T) {
	for title, want := range map[string]string{
		"Swagger Petstore - OpenAPI 3.0":         "swagger-petstore-openapi-3-0",
		"  Ünï/Çode  ":                           "n-ode",
		"日本":                                     "tenon",
		"":                                       "tenon",
		"The Extremely Long Name of Our Service": "the-extremely-long-name-of",
		strings.Repeat("x", 99):                  strings.Repeat("x", 30),
	} {
		if got := ServerName(title); got != want {
			t.Errorf("%q: %q", title, got)
		}
		if err := CheckName(want); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "A", "a_b", "a.b", "-a", "a--b", strings.Repeat("x", 31)} {
		if CheckName(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// plain is JSON without comments and trailing commas, found in another way than
// the editor finds them.
func plain(text []byte) []byte {
	var out []byte
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			start := i
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			out = append(out, text[start:i+1]...)
		case bytes.HasPrefix(text[i:], []byte("//")):
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case bytes.HasPrefix(text[i:], []byte("/*")):
			i += 2 + bytes.Index(text[i+2:], []byte("*/")) + 1
		case strings.IndexByte(" \t\r\n", text[i]) >= 0:
		case text[i] == '}' || text[i] == ']':
			out = append(bytes.TrimSuffix(out, []byte(",")), text[i])
		default:
			out = append(out, text[i])
		}
	}
	return out
}

// FuzzJSON: an edited text is the text plus the entry, removing the entry gives the
// text back byte for byte (only an object without servers may go), and what is
// broken is refused.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		"", "{}", "{\n}\n", "{\"a\":1}", "{\n  \"mcpServers\": {}\n}", "{\"mcpServers\":{\"b\":{},},}", "{ // c\n \"mcpServers\" : /**/ { \"x\" : 1 /*d*/ } }", "\ufeff{}\r\n",
		"{\"mcpServers\": {\"b\": 1 // c\n}}", "{\"mcp\\u0053ervers\":{}}", "{\"mcpServers\":{\"shop\":{\"command\":\"tenon\",\"args\":[\"serve\"]},\"y\":1}}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := Find("gemini-cli")
		added, err := c.Add(text, server())
		if err != nil {
			if added != nil {
				t.Fatal("an error with a text")
			}
			return
		}
		was := map[string]any{}
		if len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte(byteOrderMark)))) > 0 {
			if err := json.Unmarshal(plain(text), &was); err != nil {
				t.Fatalf("%q is edited and is no JSON: %v", text, err)
			}
		}
		var is map[string]any
		if err := json.Unmarshal(plain(added), &is); err != nil {
			t.Fatalf("%q became %q: %v", text, added, err)
		}
		servers, had := was["mcpServers"].(map[string]any)
		if !had {
			servers = map[string]any{}
			was["mcpServers"] = servers
		}
		_, replaced := servers["shop"]
		empty := had && len(servers) == 0
		servers["shop"] = map[string]any{"command": "/opt/tenon", "args": []any{"serve", `C:\a "b"<&>.yaml`, "☃"}}
		if !reflect.DeepEqual(was, is) {
			t.Fatalf("%q became %q", text, added)
		}
		if again, err := c.Add(added, server()); err != nil || !bytes.Equal(again, added) {
			t.Fatalf("%q, once more %q, %v", added, again, err)
		}
		if replaced {
			return
		}
		back, _, err := c.Remove(added, "shop")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(back, text) {
			return
		}
		// Objects without members were written on one line, or were not there.
		if delete(servers, "shop"); len(servers) == 0 {
			delete(was, "mcpServers")
		}
		is = map[string]any{}
		if err := json.Unmarshal(plain(back), &is); err != nil {
			t.Fatal(err)
		}
		if m, _ := is["mcpServers"].(map[string]any); len(m) == 0 {
			delete(is, "mcpServers")
		}
		if !reflect.DeepEqual(was, is) || !empty && len(was) > 0 {
			t.Fatalf("%q became %q and then %q", text, added, back)
		}
	})
}

// FuzzTOML: the same for TOML.
func FuzzTOML(f *testing.F) {
	for _, s := range []string{"", "a = 1", "a = 1\r\n\r\n[b]\r\n# c\r\n", "[mcp_servers]\n[mcp_servers.b]\nx = 1", "[mcp_servers.shop]\ncommand='tenon'\nargs=['serve']\n[[z]]", "[\"mcp_servers\".'shop']\n", "a = '''\n[x]\n'''"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := Find("codex")
		added, err := c.Add(text, server())
		if err != nil {
			if added != nil {
				t.Fatal("an error with a text")
			}
			return
		}
		var was, is map[string]any
		if err := toml.Unmarshal(text, &was); err != nil {
			t.Fatalf("%q is edited and is no TOML: %v", text, err)
		}
		if err := toml.Unmarshal(added, &is); err != nil {
			t.Fatalf("%q became %q: %v", text, added, err)
		}
		servers, had := was["mcp_servers"].(map[string]any)
		_, replaced := servers["shop"]
		if !had {
			if was == nil {
				was = map[string]any{}
			}
			servers = map[string]any{}
			was["mcp_servers"] = servers
		}
		servers["shop"] = map[string]any{"command": "/opt/tenon", "args": []any{"serve", `C:\a "b"<&>.yaml`, "☃"}}
		if !reflect.DeepEqual(was, is) {
			t.Fatalf("%q became %q", text, added)
		}
		if replaced {
			return
		}
		if back, _, err := c.Remove(added, "shop"); err != nil || !bytes.Equal(back, text) {
			t.Fatalf("%q became %q and then %q, %v", text, added, back, err)
		}
	})
}
