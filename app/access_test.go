package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhoMayCallIsSaidBeyondLoopback(t *testing.T) {
	e := Env{Getenv: func(name string) (string, bool) {
		value, ok := map[string]string{"A": "key of a", "B": "key of b", "BLANK": " "}[name]
		return value, ok
	}}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("key of c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, addr, want string // what the error says; empty: there is none
		config           Config
	}{
		{"loopback", ":80", "", Config{}},
		{"loopback by name", "LocalHost:80", "", Config{}},
		{"loopback by an address that is not 127.0.0.1", "127.9.9.9:80", "", Config{}},
		{"version 6", "[::1]:80", "", Config{}},
		{"stdio", "", "", Config{}},
		{"everywhere", "0.0.0.0:80", "--behind-proxy", Config{}},
		{"everywhere, version 6", "[::]:80", "--insecure", Config{}},
		{"an address", "192.0.2.1:80", "--api-key", Config{}},
		{"a name", "tenon.example:80", "--api-key", Config{}},
		{"an old way to write an address", "0:80", "--api-key", Config{}},
		{"a key", "0.0.0.0:80", "", Config{APIKeys: []string{"a=env:A"}}},
		{"keys", "0.0.0.0:80", "", Config{APIKeys: []string{"a=env:A", "c=file:" + file}}},
		{"a proxy", "0.0.0.0:80", "", Config{BehindProxy: true}},
		{"everybody", "0.0.0.0:80", "", Config{Insecure: true}},
		{"a key for stdio", "", "are for --http", Config{APIKeys: []string{"a=env:A"}}},
		{"no variable", ":80", "no variable C", Config{APIKeys: []string{"a=env:C"}}},
		{"an empty key", ":80", "the key is empty", Config{APIKeys: []string{"a=env:BLANK"}}},
		{"no file", ":80", "no such file", Config{APIKeys: []string{"a=file:" + file + "x"}}},
		{"a literal key", ":80", "does not belong there", Config{APIKeys: []string{"a=sesame"}}},
		{"a literal key without a name", ":80", "does not belong there", Config{APIKeys: []string{"sesame"}}},
		{"one name twice", ":80", "given twice", Config{APIKeys: []string{"a=env:A", "a=env:B"}}},
		{"one key twice", ":80", "the same key", Config{APIKeys: []string{"a=env:A", "b=env:A"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.HTTP = tt.addr
			_, err := ReadAccess(&tt.config, e)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(asFlags(err), tt.want)) {
				t.Errorf("got %v", err)
			}
			if err != nil && (strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "key of")) {
				t.Errorf("the error repeats a key: %v", err)
			}
		})
	}
}

func TestCallersAreKnownByTheirKeys(t *testing.T) {
	e := Env{Getenv: func(name string) (string, bool) { return "key of " + name, true }}
	f, err := ReadAccess(&Config{HTTP: "0.0.0.0:80", APIKeys: []string{"one=env:A", "two=env:B"}}, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, header, value, caller string }{
		{"bearer", "Authorization", "Bearer key of A", "one"},
		{"bearer in small letters", "Authorization", "bearer  key of B", "two"},
		{"the header of its own", "X-API-Key", "key of B", "two"},
		{"basic", "Authorization", "Basic key of A", ""},
		{"without a scheme", "Authorization", "key of A", ""},
		{"a longer one", "X-API-Key", "key of AA", ""},
		{"none", "X-API-Key", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/mcp?key=key+of+A&code=key+of+A", http.NoBody)
			r.Header.Set(tt.header, tt.value)
			_, caller, err := f.Authenticate(r)
			if caller != tt.caller || (err == nil) != (caller != "") {
				t.Errorf("got %q, %v", caller, err)
			}
		})
	}
}
