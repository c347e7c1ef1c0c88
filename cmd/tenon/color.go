package main

import (
	"io"
	"os"
	"runtime"

	"golang.org/x/term"
)

// paint marks parts of a text for a terminal; the zero value leaves them as they are.
type paint struct{ on bool }

// paintFor is for a terminal, unless NO_COLOR is set or the terminal has no colors.
// Consoles of Windows have to be switched first, and stay as they are.
func paintFor(out io.Writer, getenv func(string) (string, bool)) paint {
	f, ok := out.(*os.File)
	if !ok || runtime.GOOS == "windows" || !term.IsTerminal(int(f.Fd())) {
		return paint{}
	}
	none, _ := getenv("NO_COLOR")
	kind, _ := getenv("TERM")
	return paint{on: none == "" && kind != "dumb" && kind != ""}
}

func (p paint) as(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string   { return p.as("1", s) }
func (p paint) faint(s string) string  { return p.as("2", s) }
func (p paint) red(s string) string    { return p.as("31", s) }
func (p paint) green(s string) string  { return p.as("32", s) }
func (p paint) yellow(s string) string { return p.as("33", s) }
func (p paint) cyan(s string) string   { return p.as("36", s) }
