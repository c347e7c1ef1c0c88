package format

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// Limits of a folder.
const (
	maxFiles  = 20_000
	maxFolder = 16 // levels
)

// ReadFiles reads the schema files at spec, in the order of their paths.
func ReadFiles(ctx context.Context, spec string, o Options, tests bool) ([]*File, error) {
	paths, err := SchemaFiles(spec)
	if err != nil {
		return nil, &tenon.Error{Code: tenon.CodeBadSource, Message: "read " + spec, Err: err}
	}
	folders := map[string]*listFolder{}
	var files []*File
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, err := readFile(path)
		if err != nil && len(paths) == 1 {
			return nil, &tenon.Error{Code: tenon.CodeBadSource, Message: "read " + path, Err: err}
		}
		if err != nil {
			files = append(files, &File{Path: path, Failed: true, Findings: []Finding{{Code: "VAL001", Severity: Fatal, Path: "file", Message: err.Error()}}})
			continue
		}
		files = append(files, ReadSchema(path, text, Rules{strict: o.Strict, tests: tests, callers: o.ImplicitParameters, libraries: o.Libraries, Lists: listFolderFor(folders, path, o), reads: o.HandlerReads, writes: o.HandlerWrites}))
	}
	return files, nil
}

// Unreadable returns an error where no file has a readable main. Errors inside
// a main affect only parts of it.
func Unreadable(spec string, files []*File) error {
	if slices.ContainsFunc(files, func(f *File) bool { return f.Main.Is(module.Object) }) {
		return nil
	}
	first := files[0]
	if kind := KindOf(first.Path); kind != "" {
		return &tenon.Error{Code: tenon.CodeBadSource, Message: first.Path + " is a " + kind + ", not a schema file; 'tenon flowmcp check' checks it"}
	}
	message := first.Path + ": cannot be read"
	if len(first.Findings) > 0 {
		x := first.Findings[0]
		message = tenon.Diagnostic{File: first.Path, Line: x.Line, Message: x.Code + " " + x.Path + ": " + x.Message}.String()
	}
	if len(files) > 1 {
		message = fmt.Sprintf("none of the %d schema files of %s can be read; the first is %s", len(files), spec, message)
	}
	return &tenon.Error{Code: tenon.CodeBadSource, Message: message}
}

func listFolderFor(folders map[string]*listFolder, path string, o Options) *listFolder {
	dir := o.Lists
	if dir == "" {
		dir = ListsNear(path)
	}
	if folders[dir] == nil {
		folders[dir] = NewListFolder(dir, o.Strict)
	}
	return folders[dir]
}

// IsFolder reports whether path is a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// SchemaFiles lists the schema files of a folder, or the single file. Names
// that begin with _ or . and folders with other contents are skipped.
func SchemaFiles(spec string) ([]string, error) {
	info, err := os.Stat(spec)
	if err != nil {
		return nil, WithoutPath(err)
	}
	if !info.IsDir() {
		return []string{spec}, nil
	}
	var paths []string
	err = filepath.WalkDir(spec, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return WithoutPath(err)
		case path != spec && d.IsDir() && (isHidden(d.Name()) || isOtherFolder(d.Name())):
			return filepath.SkipDir
		case d.IsDir() && strings.Count(path, string(filepath.Separator))-strings.Count(spec, string(filepath.Separator)) > maxFolder:
			return filepath.SkipDir
		case d.IsDir() || isHidden(d.Name()) || filepath.Ext(path) != ".mjs":
			return nil
		}
		if paths = append(paths, path); len(paths) > maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		return nil
	})
	if err == nil && paths == nil {
		err = errors.New("the folder has no schema files (.mjs)")
	}
	return paths, err
}

func isHidden(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") }

func isOtherFolder(name string) bool {
	switch name {
	case "skills", "prompts", "resources", "selections", "agents", "node_modules":
		return true
	}
	return false
}

func readFile(path string) ([]byte, error) { return ReadUpTo(path, module.MaxFile) }

// ReadUpTo reads a file, at most one byte more than limit.
func ReadUpTo(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file or its folder
	if err != nil {
		return nil, WithoutPath(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, WithoutPath(err)
	}
	return text, nil
}

// WithoutPath removes the path from an error that is printed after the path.
func WithoutPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// maxWireName is the length to which the format truncates a tool's name for
// clients.
const maxWireName = 63

// WireName returns the name of a tool for clients: snake case of both parts,
// truncated, then sanitized, in this order.
func WireName(tool, namespace string) string {
	name := strings.ToLower(splitCamel(tool) + "_" + splitCamel(namespace))
	if len(name) > maxWireName {
		name = name[:maxWireName]
	}
	return strings.NewReplacer(":", "", "-", "_", "/", "_").Replace(name)
}

// splitCamel inserts an underscore before each capital that follows a small
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

// QualifiedName returns a tool's qualified name:
// namespace/schemaFile::routeName.
func QualifiedName(namespace, file, tool string) string {
	return namespace + "/" + FileBase(file) + "::" + tool
}

// FileBase returns the name of a file without folder and extension.
func FileBase(file string) string {
	base := filepath.Base(filepath.ToSlash(file))
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// Unique appends a suffix to a name that is taken: first the file name, so that
// the name does not depend on the number of files, then a number.
func Unique(taken map[string]bool, name, file string) string {
	if taken[name] {
		name = suffixed(name, "_"+strings.ReplaceAll(strings.ToLower(splitCamel(FileBase(file))), "-", "_"))
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

// MatchesID reports whether a name given by a user refers to the tool with this
// id: namespace/schemaFile::routeName itself, or namespace/tool/routeName.
func MatchesID(name, id string) bool {
	if name == id {
		return id != ""
	}
	namespace, rest, _ := strings.Cut(id, "/")
	_, route, ok := strings.Cut(rest, "::")
	return ok && name == namespace+"/tool/"+route
}
