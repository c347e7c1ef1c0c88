package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestTheKeyOfAzure(t *testing.T) {
	e := Env{Getenv: func(name string) (string, bool) { return "s3cret", name == "KEY" }}
	for _, inURL := range []bool{false, true} {
		d, err := ReadAccess(&Config{HTTP: "0.0.0.0:80", AzurePaths: true, AzureKey: "${KEY}", AzureKeyInURL: inURL}, e)
		if err != nil {
			t.Fatal(err)
		}
		tests := []struct {
			name, target, header string
			want                 bool
		}{
			{"no key", "/mcp", "", false},
			{"a wrong key", azurePath, "s3cre", false},
			{"a wrong key before a right one", azurePath + "?code=s3cret", "other", false},
			{"the key in the header", azurePath, "s3cret", true},
			{"the key in the address", azurePath + "?code=s3cret", "", inURL},
			{"the plain door", "/jsonrpc", "", false},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				r := httptest.NewRequest(http.MethodPost, tt.target, http.NoBody)
				if tt.header != "" {
					r.Header.Set("X-Functions-Key", tt.header)
				}
				if _, caller, err := d.Authenticate(r); (err == nil) != tt.want || tt.want != (caller == azureCaller) {
					t.Errorf("caller %q, %v", caller, err)
				}
			})
		}
	}
}

func TestAzuresPathNeedsAKeyOnANetwork(t *testing.T) {
	none := Env{Getenv: func(string) (string, bool) { return "", false }}
	tests := []struct {
		name, addr string
		config     Config
		fails      bool
	}{
		{"loopback without a key", ":8080", Config{AzurePaths: true}, false},
		{"loopback by address", "[::1]:8080", Config{AzurePaths: true}, false},
		{"a network without a key", "0.0.0.0:8080", Config{AzurePaths: true}, true},
		{"stdio", "", Config{AzurePaths: true}, true},
		{"a key that is not there", ":8080", Config{AzurePaths: true, AzureKey: "${KEY}"}, true},
		{"not wanted", "0.0.0.0:8080", Config{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.HTTP = tt.addr
			if err := new(azureKey).read(&tt.config, none); (err != nil) != tt.fails {
				t.Error(err)
			}
		})
	}
}
