package main

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/mcpb"
)

// insideBundle is the value of a flag of serve in a bundle. What is only on this
// machine is refused: files that are not read by the description, and places of
// credentials.
func insideBundle(name, value, root string, files []string) (string, error) {
	if name == configFlag {
		return "", usagef("a bundle has no config file; give its settings as flags behind --")
	}
	setting, ok := app.Find(name)
	if !ok || !setting.NamesFile() && name != "include" && name != "exclude" {
		return value, nil
	}
	lead, where := "", value
	for _, mark := range []string{"=env:", "=optional:env:", "=oauth2:env:", "=none", "=caller:"} {
		if strings.Contains(value, mark) && !strings.Contains(value, "file:") {
			return value, nil // of no file
		}
	}
	switch before, after, found := strings.Cut(value, "@"); {
	case (name == "include" || name == "exclude") && found && before == "":
		lead, where = "@", after
	case name == "include" || name == "exclude":
		return value, nil
	default:
		if before, after, found := strings.Cut(value, "="); found && !filepath.IsAbs(value) {
			lead, where = before+"=", after
		}
	}
	if strings.Contains(where, "://") {
		return value, nil
	}
	if place, ok := placeIn(where, root, files); ok {
		return lead + place, nil
	}
	return "", usagef("--%s names something of this machine, which is not in a bundle", name)
}

// placeIn is where a file of a bundle, or a folder with such files, is after a host
// unpacked it.
func placeIn(file, root string, files []string) (string, bool) {
	file = filepath.Clean(file)
	below := func(f string) bool { return f == file || strings.HasPrefix(f, file+string(filepath.Separator)) }
	if !slices.ContainsFunc(files, below) {
		return "", false
	}
	rest := ""
	if len(file) > len(root) {
		rest = filepath.ToSlash(file[len(root):])
	} else if strings.TrimSuffix(root, string(filepath.Separator)) != file {
		return "", false // a folder above them all
	}
	return mcpb.Dir + "/" + path.Join(descriptionDir, rest), true
}

// commonDir is the folder, with its separator, that all files are below.
func commonDir(files []string) string {
	if len(files) == 0 {
		return ""
	}
	separator := string(filepath.Separator)
	dir := filepath.Dir(files[0])
	for dir != filepath.Dir(dir) && slices.ContainsFunc(files, func(f string) bool { return !strings.HasPrefix(f, dir+separator) }) {
		dir = filepath.Dir(dir)
	}
	return strings.TrimSuffix(dir, separator) + separator
}
