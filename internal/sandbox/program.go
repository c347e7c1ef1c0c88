package sandbox

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Program is untrusted code with its environment. It is immutable; make it with
// NewProgram.
type Program struct {
	program

	key string
}

// program is the part of Program that a worker needs.
type program struct {
	module, glue, data string
	libraries          []Library
}

// Library is a bundle for untrusted code.
type Library struct {
	Name   string // of the package
	Source string // text of a function that takes the environment of a library and returns its exports
}

// NewProgram puts a program together.
//
// module is the text of an ECMAScript module, which nobody trusts. glue is the
// text of a function that we wrote. It runs before module, with one argument:
//
//	ask(name, args)  a promise of {value, text} from the parent
//	data             the JSON value data, deeply frozen
//	libraries        what the libraries export, by name
//	modules          the modules of Node that are here, by name
//	bytes            toLatin1, fromLatin1, view and utf8
//
// It returns {globals, start}: globals become members of the global object, and
// start(exports), called with what module exports, returns the functions that
// can be called. Between the two everything that is shared is frozen.
func NewProgram(module, glue string, data []byte, libraries ...Library) *Program {
	p := &Program{program: program{module: module, glue: glue, data: string(data), libraries: libraries}}
	h := sha256.New()
	for _, part := range p.parts() {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	p.key = hex.EncodeToString(h.Sum(nil))
	return p
}

// Key returns the hash of the program.
func (p *Program) Key() string { return p.key }

func (p *program) parts() [][]byte {
	parts := [][]byte{[]byte(p.module), []byte(p.glue), []byte(p.data)}
	for _, l := range p.libraries {
		parts = append(parts, []byte(l.Name), []byte(l.Source))
	}
	return parts
}
