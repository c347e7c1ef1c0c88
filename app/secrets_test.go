package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// literals are secrets that somebody wrote where the place of one belongs, by setting.
func literals() map[string]string {
	const secret = "hunter2-hunter2-hunter2-hunter2-hunter2"
	return map[string]string{
		"api-key": "ops=" + secret, "auth": "key=" + secret, "header": "Authorization: Bearer " + secret, "azure-key": secret,
		"oauth-introspection": "client=" + secret, "oauth-exchange": "client=" + secret, "oauth-login": "client=" + secret,
		"credential-key": secret, "audit-key": secret, "otlp-headers": "Authorization=Bearer " + secret, "store-password": secret, "secret": secret,
		"server-param": "KEY=" + secret, "worker-env": "API_KEY=" + secret,
		"base-url": "https://me:" + secret + "@example.com", "otlp": "https://me:" + secret + "@example.com", "store": "redis://me:" + secret + "@example.com",
	}
}

// No setting takes a secret itself, and no error repeats it.
func TestSecretsThemselvesAreRefused(t *testing.T) {
	all := literals()
	for _, s := range Settings() {
		if _, known := all[s.Name]; !known && (strings.Contains(s.Help, "env:VAR") || strings.Contains(s.Help, "${VAR}")) {
			t.Errorf("%s says where a secret is: what if somebody writes the secret itself?", s.Name)
		}
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "shop.json")
	if err := os.WriteFile(file, []byte(twoTools), 0o600); err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile("../testdata/shop.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "shop.mjs"), schema, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range all {
		t.Run(name, func(t *testing.T) {
			text := "http: 127.0.0.1:0\naudit: \"-\"\noauth-issuer: https://login.example.com\noauth-resource: https://mcp.example.com/mcp\nsources: {shop: shop.json}\n"
			if name == "store-password" {
				text += "store: redis://127.0.0.1:1\nsecret: env:SECRET\n"
			}
			if name == "credential-key" {
				text += "credential-dir: " + folder + "\noauth-login: client=env:SECRET\n"
			}
			if name == "server-param" {
				text = "sources: {shop: shop.mjs}\n"
			}
			before, after, pair := strings.Cut(value, "=")
			setting, _ := Find(name)
			switch {
			case pair && setting.pair != "":
				text += name + ": {" + before + ": \"" + after + "\"}\n"
			case name == "header":
				text += name + ": [\"" + value + "\"]\n"
			default:
				text += name + ": \"" + value + "\"\n"
			}
			config := filepath.Join(folder, name+".yaml")
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := ReadFile(config)
			if err == nil {
				var a *App
				if a, err = New(t.Context(), c, Env{Getenv: onlySecret}); err == nil {
					a.Close()
				}
			}
			if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(asFlags(err), "hunter2") {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(asFlags(err), "text or a list") {
				t.Errorf("the config is not what is meant: %v", err)
			}
		})
	}
}

func onlySecret(name string) (string, bool) {
	if name == "SECRET" {
		return strings.Repeat("s", 40), true
	}
	return "", false
}
