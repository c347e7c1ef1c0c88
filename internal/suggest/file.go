package suggest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxNames is the most names in a question.
const maxNames = 3

// maxBeside is how many entries of a folder are looked at for a name.
const maxBeside = 1000

// Question asks whether one of these names was meant; without any it is empty.
func Question(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, ", ") + "?"
}

// MissingFile says where a file was looked for that does not exist, and what looks
// like it there. Of a path it names the first part that there is not. It is
// empty where the file exists.
func MissingFile(name string) string {
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
	return text + Question(near)
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
	for _, stem := range Near(strings.TrimSuffix(name, filepath.Ext(name)), stems, maxNames) {
		near = append(near, slices.Sorted(slices.Values(named[stem]))...)
	}
	return near[:min(len(near), maxNames)]
}
