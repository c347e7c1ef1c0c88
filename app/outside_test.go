package app

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// CheckOutside finds what a server would only notice while it serves, and leaves
// nothing behind.
func TestCheckOutside(t *testing.T) {
	folder := t.TempDir()
	for name, tt := range map[string]struct{ audit, want string }{
		"none":             {"", ""},
		"new file":         {filepath.Join(folder, "audit.log"), ""},
		"absent folder":    {filepath.Join(folder, "absent", "audit.log"), "--audit " + filepath.Join(folder, "absent", "audit.log") + " cannot be written: "},
		"a folder":         {folder, "cannot be written: "},
		"standard output":  {"-", ""},
		"below no folder":  {"/dev/null/audit.log", "cannot be written: "},
		"what is no file":  {"/dev/null", ""},
		"receiver of OTLP": {auditOTLP, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := (&App{inForce: inForce{config: &Config{Audit: tt.audit}}}).CheckOutside()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(asFlags(err), tt.want)) {
				t.Errorf("got %v", err)
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestUnservedResource(t *testing.T) {
	for resource, want := range map[string]string{
		"": "", "https://mcp.test/mcp": "mcp.test", "https://known.test/mcp": "", "http://127.0.0.1:80/mcp": "", "http://localhost:80/mcp": "",
	} {
		c := Config{OAuthResource: resource, AllowedHosts: []string{"KNOWN.test"}, HTTP: ":8080"}
		if got := c.UnservedResource(); got != want {
			t.Errorf("%s: %q", resource, got)
		}
		c.BehindProxy = true
		if got := c.UnservedResource(); got != "" {
			t.Errorf("%s behind a proxy: %q", resource, got)
		}
	}
}

// A certificate counts at its time alone.
func TestTimeOfACertificate(t *testing.T) {
	folder := t.TempDir()
	cert := &certificate{cert: filepath.Join(folder, "c.pem"), key: filepath.Join(folder, "k.pem")}
	writePair(t, cert.cert, cert.key, 1) // of two hours
	if err := cert.read(); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]string{0: "", 2 * time.Hour: "has expired on", -2 * time.Hour: "is valid from"} {
		if err := cert.valid(time.Now().Add(after)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("after %v: %v", after, err)
		}
	}
}
