package flowmcp

import (
	"path/filepath"
	"strconv"
	"strings"
)

// maxWireName is where the format cuts a tool's name for clients.
const maxWireName = 63

// wireName is the name of a tool for clients: snake case of both parts, cut,
// then made legal, in this order.
func wireName(tool, namespace string) string {
	name := strings.ToLower(splitCamel(tool) + "_" + splitCamel(namespace))
	if len(name) > maxWireName {
		name = name[:maxWireName]
	}
	return strings.NewReplacer(":", "", "-", "_", "/", "_").Replace(name)
}

// splitCamel puts an underscore before each capital that follows a small
// letter or a digit.
func splitCamel(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if i > 0 && s[i] >= 'A' && s[i] <= 'Z' && (s[i-1] >= 'a' && s[i-1] <= 'z' || s[i-1] >= '0' && s[i-1] <= '9') {
			b.WriteByte('_')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// qualifiedName is a tool's name in full: namespace/schemaFile::routeName.
func qualifiedName(namespace, file, tool string) string {
	return namespace + "/" + fileBase(file) + "::" + tool
}

// fileBase is the name of a file without folder and extension.
func fileBase(file string) string {
	base := filepath.Base(filepath.ToSlash(file))
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// unique gives name a suffix where it is taken: first the file, so that the
// name does not depend on how many others there are, then a number.
func unique(taken map[string]bool, name, file string) string {
	if taken[name] {
		name = suffixed(name, "_"+strings.ReplaceAll(strings.ToLower(splitCamel(fileBase(file))), "-", "_"))
	}
	base := name
	for n := 2; taken[name]; n++ {
		name = suffixed(base, "_"+strconv.Itoa(n))
	}
	taken[name] = true
	return name
}

func suffixed(name, suffix string) string {
	if len(suffix) > maxWireName/2 {
		suffix = suffix[:maxWireName/2]
	}
	return name[:min(len(name), maxWireName-len(suffix))] + suffix
}

// MatchesID reports whether a name, as people write it, means the tool with this
// id: namespace/schemaFile::routeName itself, or namespace/tool/routeName.
func MatchesID(name, id string) bool {
	if name == id {
		return id != ""
	}
	namespace, rest, _ := strings.Cut(id, "/")
	_, route, ok := strings.Cut(rest, "::")
	return ok && name == namespace+"/tool/"+route
}
