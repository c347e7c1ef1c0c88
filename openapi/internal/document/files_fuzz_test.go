package document

import (
	"net/url"
	"path"
	"strings"
	"testing"
)

// FuzzAddress: wherever a reference leads, it is below the folder on disk, or a
// web address that only the policy can let through.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"a.json", "../a.json", "x/../../a", "%2e%2e/a", "..%2fa", "//host/a", "file:///a", "http://h/a", "C:\\a", "a/./b", "/etc/passwd", "?q", ""} {
		f.Add("dir/api.yaml", s)
	}
	f.Fuzz(func(t *testing.T, from, ref string) {
		if from != path.Clean(from) || strings.HasPrefix(from, "../") || path.IsAbs(from) || from == ".." {
			return
		}
		disk := library{folder: "root"}
		if at, err := disk.addressFrom(address{path: from}, ref); err == nil && at.url == nil {
			if at.path == ".." || strings.HasPrefix(at.path, "../") || path.IsAbs(at.path) || at.path != path.Clean(at.path) {
				t.Errorf("%q from %q leads to %q", ref, from, at.path)
			}
		}
		home := &url.URL{Scheme: "https", Host: "example.com", Path: "/v1/api.json"}
		net := library{below: &url.URL{Scheme: "https", Host: "example.com", Path: "/v1"}}
		at, err := net.addressFrom(address{url: home}, ref)
		if err == nil && net.allows(at.url) && (at.url.Host != "example.com" && !strings.EqualFold(at.url.Host, "example.com") || !strings.HasPrefix(path.Clean(at.url.Path), "/v1/")) {
			t.Errorf("%q is allowed to lead to %s", ref, at.url)
		}
	})
}
