package flowmcp

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A file talks to the hosts that stand in it, and nowhere else: code that is
// fed with foreign answers does not get to choose where the next request goes.
// A placeholder in a host's name stands for one label.

var (
	authority   = regexp.MustCompile(`https?://([^/\s"'` + "`" + `<>?#)\\,;]+)`)
	inHostName  = regexp.MustCompile(`\$\{[^}\n]*\}|\{\{[\w:]+\}\}|\{\w+\}`)
	inLabel     = regexp.MustCompile(`--[a-z0-9-]+--|:[a-z_]\w*`)
	hostPattern = regexp.MustCompile(`^([a-z0-9*-]+\.)*[a-z0-9-]+\.[a-z0-9-]+$`) // the last two labels are the file's own
)

// hostsIn are the patterns of the hosts that a text names.
func hostsIn(text string) []string {
	var hosts []string
	for _, m := range authority.FindAllStringSubmatch(inHostName.ReplaceAllString(text, "*"), -1) {
		host := inLabel.ReplaceAllString(strings.ToLower(m[1]), "*")
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			host = host[at+1:]
		}
		host, _, _ = strings.Cut(host, ":")
		if p := strings.Trim(host, "."); hostPattern.MatchString(p) && !slices.Contains(hosts, p) {
			hosts = append(hosts, p)
		}
	}
	return hosts
}

// fits reports whether a host is of a pattern: label by label.
func fits(pattern, host string) bool {
	p, h := strings.Split(pattern, "."), strings.Split(strings.ToLower(host), ".")
	if len(p) != len(h) {
		return false
	}
	for i := range p {
		if ok, err := path.Match(p[i], h[i]); err != nil || !ok || h[i] == "" {
			return false
		}
	}
	return true
}

// knows reports whether the file may talk to the host of u.
func (f *file) knows(u *url.URL, base string) bool {
	if sameOrigin(u, base) {
		return true
	}
	return u.Scheme == "https" && slices.ContainsFunc(f.hosts, func(p string) bool { return fits(p, u.Hostname()) })
}

// isHome reports whether u leads to the origin of root, which is the one that the
// file's server parameters are for. A marker may stand in the name.
func (f *file) isHome(u *url.URL, base, marker string) bool {
	if base != "" {
		return sameOrigin(u, base)
	}
	name := u.Hostname()
	return u.Scheme == "https" && portOf(u) == f.rootPort() && slices.ContainsFunc(hostsIn(f.main.get("root").str()), func(p string) bool {
		labels := strings.Split(p, ".")
		for i, label := range strings.Split(name, ".") {
			if strings.Contains(label, marker) && (i >= len(labels) || !strings.Contains(labels[i], "*")) {
				return false
			}
		}
		return fits(p, name)
	})
}

// rootPort is the port that root names, else that of https.
func (f *file) rootPort() string {
	m := rootAuthority.FindStringSubmatch(f.main.get("root").str())
	if m == nil || m[1] == "" {
		return "443"
	}
	return m[1]
}

// rootAuthority finds the port of a root, whose host may have marks in it.
var rootAuthority = regexp.MustCompile(`^https://(?:\{\{[\w:]+\}\}|[^/?#{}:]|\{\w+\}|:[a-z_]\w*)*(?::(\d+))?(?:[/?#]|$)`)

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}

func sameOrigin(u *url.URL, base string) bool {
	b, err := url.Parse(base)
	return base != "" && err == nil && u.Scheme == b.Scheme && strings.EqualFold(u.Hostname(), b.Hostname()) && portOf(u) == portOf(b)
}
