package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestWhoMayCallIsSaidBeyondLoopback(t *testing.T) {
	e := env{getenv: func(name string) (string, bool) {
		value, ok := map[string]string{"A": "key of a", "B": "key of b", "BLANK": " "}[name]
		return value, ok
	}}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("key of c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, addr, want string // what the error says; empty: there is none
		access           accessFlags
	}{
		{"loopback", ":80", "", accessFlags{}},
		{"loopback by name", "LocalHost:80", "", accessFlags{}},
		{"loopback by an address that is not 127.0.0.1", "127.9.9.9:80", "", accessFlags{}},
		{"version 6", "[::1]:80", "", accessFlags{}},
		{"stdio", "", "", accessFlags{}},
		{"everywhere", "0.0.0.0:80", "--behind-proxy", accessFlags{}},
		{"everywhere, version 6", "[::]:80", "--insecure", accessFlags{}},
		{"an address", "192.0.2.1:80", "--api-key", accessFlags{}},
		{"a name", "tenon.example:80", "--api-key", accessFlags{}},
		{"an old way to write an address", "0:80", "--api-key", accessFlags{}},
		{"a key", "0.0.0.0:80", "", accessFlags{keys: []string{"a=env:A"}}},
		{"keys", "0.0.0.0:80", "", accessFlags{keys: []string{"a=env:A", "c=file:" + file}}},
		{"a proxy", "0.0.0.0:80", "", accessFlags{behindProxy: true}},
		{"everybody", "0.0.0.0:80", "", accessFlags{insecure: true}},
		{"a key for stdio", "", "are for --http", accessFlags{keys: []string{"a=env:A"}}},
		{"no variable", ":80", "no variable C", accessFlags{keys: []string{"a=env:C"}}},
		{"an empty key", ":80", "the key is empty", accessFlags{keys: []string{"a=env:BLANK"}}},
		{"no file", ":80", "no such file", accessFlags{keys: []string{"a=file:" + file + "x"}}},
		{"a literal key", ":80", "does not belong there", accessFlags{keys: []string{"a=sesame"}}},
		{"a literal key without a name", ":80", "does not belong there", accessFlags{keys: []string{"sesame"}}},
		{"one name twice", ":80", "given twice", accessFlags{keys: []string{"a=env:A", "a=env:B"}}},
		{"one key twice", ":80", "the same key", accessFlags{keys: []string{"a=env:A", "b=env:A"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.access.check(e, tt.addr, false)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v", err)
			}
			if err != nil && (strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "key of")) {
				t.Errorf("the error repeats a key: %v", err)
			}
		})
	}
}

func TestCallersAreKnownByTheirKeys(t *testing.T) {
	e := env{getenv: func(name string) (string, bool) { return "key of " + name, true }}
	f := accessFlags{keys: []string{"one=env:A", "two=env:B"}}
	if err := f.check(e, "0.0.0.0:80", false); err != nil {
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
			caller, err := f.authenticate(r)
			if caller != tt.caller || (err == nil) != (caller != "") {
				t.Errorf("got %q, %v", caller, err)
			}
		})
	}
}

func TestSecretsAreNotOnTheCommandLine(t *testing.T) {
	for _, tt := range []struct {
		flag, value string
		refused     bool
	}{
		{"header", "Authorization: Bearer sesame", true},
		{"header", "X-Custom: Bearer sesame", true},
		{"header", "X-Api-Key: sesame", true},
		{"header", "X-Key: sesame", true},
		{"header", "Cookie: sid=sesame", true},
		{"header", "Authorization: Bearer ${TOKEN}", false},
		{"header", "X-Monkey: sesame", false},
		{"header", "Accept-Language: de", false},
		{"azure-key", "sesame", true},
		{"azure-key", "${KEY}", false},
		{"app-env", "DB_PASSWORD=sesame", true},
		{"app-env", "DB_PASSWORD", false},
		{"base-url", "https://me:sesame@api.example", true},
		{"base-url", "https://api.example", false},
		{"param-fix", "auth_token=Bearer sesame", true},
		{"param-fix", "key=name", false},
	} {
		t.Run(tt.flag+" "+tt.value, func(t *testing.T) {
			cmd := &cobra.Command{}
			var one string
			var many []string
			if tt.flag == "azure-key" || tt.flag == "base-url" {
				cmd.Flags().StringVar(&one, tt.flag, "", "")
			} else {
				cmd.Flags().StringArrayVar(&many, tt.flag, nil, "")
			}
			if err := cmd.Flags().Set(tt.flag, tt.value); err != nil {
				t.Fatal(err)
			}
			err := noSecrets(cmd.Flags())
			if (err != nil) != tt.refused || err != nil && strings.Contains(err.Error(), "sesame") {
				t.Errorf("got %v", err)
			}
		})
	}
}
