package typedecl

import (
	_ "embed" // the runtimes
	"strings"
)

// The languages.
const (
	LanguageTypeScript = "ts"
	LanguagePython     = "python"
)

// Names of the runtimes, which generated modules import.
const (
	runtimeTypeScript = "tenon_runtime.ts"
	runtimePython     = "tenon_runtime.py"
)

//go:embed runtime/tenon_runtime.ts
var textTypeScript []byte

//go:embed runtime/tenon_runtime.py
var textPython []byte

// Runtime returns the file that the modules of a language import.
func Runtime(language string) (file string, text []byte) {
	if language == LanguagePython {
		return runtimePython, textPython
	}
	return runtimeTypeScript, textTypeScript
}

// Requirement is the package that a runtime needs.
func Requirement(language string) string {
	if language == LanguagePython {
		return "mcp"
	}
	return "@modelcontextprotocol/sdk"
}

// FileName is the name of a source's module: one that can be imported, and that no
// other has.
func FileName(source, language string, taken func(string) bool) string {
	suffix, words := ".ts", typescriptWords()
	if language == LanguagePython {
		suffix, words = ".py", pythonWords()
	}
	stem := identifier(source)
	if len(stem) > maxName {
		stem = strings.ToValidUTF8(stem[:maxName], "")
	}
	if words.reserved[stem] {
		stem += "_"
	}
	for name := stem; ; name += "_" {
		if !taken(name + suffix) {
			return name + suffix
		}
	}
}
