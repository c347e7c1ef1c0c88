// Package config reads the operator's file: what is served, and how.
//
// It does not know what any of its words do: whoever reads the file says which
// keys there are, and gets plain values with the lines they stand in. It opens
// nothing, looks nothing up and holds no secret: the file names where secrets
// are found.
//
// It stands before the path of a description: file → values → settings → sources.
package config

// Kind is the form of a key's value.
type Kind string

// The forms.
const (
	Text     Kind = "text"
	Word     Kind = "word"     // a text, a number, or true or false, taken as it is written
	Number   Kind = "number"   // whole
	Decimal  Kind = "decimal"  // a number that may have a fraction
	Switch   Kind = "switch"   // true or false
	Duration Kind = "duration" // a text such as 30s
	List     Kind = "list"     // of texts; one text is a list of one
)

// Place is where in the file a key may stand.
type Place uint8

// The places, which may be joined.
const (
	Whole  Place = 1 << iota // at the top: for everything that is served
	Source                   // in a source: for that one
	Tool                     // under a pattern for names of tools
)

// Key is a word that the file may hold.
type Key struct {
	Name    string
	Kind    Kind
	Places  Place
	Doc     string
	Default string   // as text; empty: the doc says what holds without the key
	Values  []string // that a Word or Text may have; nil: any
	// Pair stands between name and value where a List may be written as an
	// object; empty: it may not.
	Pair string
	// Lists: a value of that object may be a list, a pair for each of its texts.
	Lists bool
	// Rebase makes a value that names a file relative to the folder of the
	// config; nil: the value names no file.
	Rebase func(folder, value string) string
	// Check says what is wrong with a value; nil: nothing is.
	Check func(value string) error
}

// File is what a config says.
type File struct {
	Settings []Setting
	Tools    []Pattern // their names may have a source before a slash
	Sources  []Described
}

// Setting is a key with its value, or its values where the key is a List.
type Setting struct {
	Key    string
	Values []string
	Line   int // from 1
}

// Pattern is what counts for tools whose names match.
type Pattern struct {
	Names    string
	Settings []Setting
	Line     int
}

// Described is a source: a description and what counts for it.
type Described struct {
	Name     string
	Spec     string // file, folder or URL
	Settings []Setting
	Tools    []Pattern
	Line     int
}

// Bounds of a file.
const (
	MaxSize     = 1 << 20 // bytes
	maxSources  = 1000
	maxProblems = 50
)
