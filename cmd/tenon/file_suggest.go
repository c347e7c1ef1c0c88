package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon/internal/suggest"
)

// maxBeside is how many entries of a folder are looked at for a name.
const maxBeside = 1000

// kinds is what the argument for a description may be.
const kinds = "a description is an OpenAPI document (a file or a URL), a FlowMCP schema file (.mjs) or a folder of them, or the folder of a function app"

// missing says where a file was looked for that does not exist, and what looks
// like it there. Of a path it names the first part that there is not. It is
// empty where the file exists.
func missing(name string) string {
	if name == "" {
		return "the name of a file is empty"
	}
	folder, base, rest := filepath.Dir(name), filepath.Base(name), ""
	for !exists(folder) && filepath.Dir(folder) != folder {
		folder, base, rest = filepath.Dir(folder), filepath.Base(folder), filepath.Join(base, rest)
	}
	if exists(filepath.Join(folder, base)) {
		return ""
	}
	whole, err := filepath.Abs(folder)
	if err != nil {
		whole = folder
	}
	text := fmt.Sprintf("there is no %q in %s", base, whole)
	if rest != "" {
		text += ", where " + name + " would be"
	}
	var near []string
	for _, n := range beside(folder, base) {
		n = filepath.Join(folder, n)
		if whole := filepath.Join(n, rest); exists(whole) {
			n = whole
		}
		near = append(near, n)
	}
	return text + meant(near)
}

// noDescription is missing for a description: without a name that looks like
// it, what else it may be.
func noDescription(spec string) string {
	if strings.HasPrefix(spec, "https://") || strings.HasPrefix(spec, "http://") {
		return "" // another file that it needs
	}
	if strings.Contains(spec, "://") {
		return shownSpec(spec) + " is neither a file nor a URL that is read: that begins with https://"
	}
	text := missing(spec)
	if text == "" || strings.HasSuffix(text, "?") {
		return text
	}
	if host, _, ok := strings.Cut(spec, "/"); ok && strings.Contains(strings.Trim(host, "."), ".") {
		return text + "; a URL begins with https://, as https://" + spec
	}
	return text + "; " + kinds
}

// namedFiles refuses flags that name what is only read and is not there.
func namedFiles(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			name := value
			switch f.Name {
			case "overlay":
				if strings.Contains(value, "://") {
					continue
				}
			case "only", "except":
				var file bool
				if name, file = strings.CutPrefix(value, "@"); !file {
					continue
				}
			case "selection", "file-root", "ref-root", "upstream-ca", "lists":
			default:
				continue
			}
			if text := missing(name); text != "" && err == nil {
				err = usagef("--%s %s cannot be read: %s", f.Name, value, text)
			}
		}
	})
	return err
}

// exists is true also where that cannot be told.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, os.ErrNotExist)
}

// beside are the folders and descriptions in a folder whose names look like
// one, whatever their endings.
func beside(folder, name string) (near []string) {
	d, err := os.Open(folder) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	entries, _ := d.ReadDir(maxBeside) // what could be read serves
	named := map[string][]string{}
	var stems []string
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() && !slices.Contains([]string{".json", ".yaml", ".yml", ".mjs"}, ext) {
			continue
		}
		stem := strings.TrimSuffix(e.Name(), ext)
		if named[stem] == nil {
			stems = append(stems, stem)
		}
		named[stem] = append(named[stem], e.Name())
	}
	slices.Sort(stems)
	for _, stem := range suggest.Near(strings.TrimSuffix(name, filepath.Ext(name)), stems, maxMeant) {
		near = append(near, slices.Sorted(slices.Values(named[stem]))...)
	}
	return near[:min(len(near), maxMeant)]
}
