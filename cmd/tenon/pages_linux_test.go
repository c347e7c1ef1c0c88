package main

import (
	"os"
	"reflect"
	"slices"
	"testing"
)

// TestProgramIsGivenBack: the code that runs is among what is given back, and
// it runs on. How much the system then takes is its own affair: nothing of a
// file that another process has in memory, too.
func TestProgramIsGivenBack(t *testing.T) {
	parts := programParts()
	if _, err := os.Stat("/proc/self/maps"); err != nil {
		t.Skip("the system does not tell where files stand in memory")
	}
	code := reflect.ValueOf(giveBackProgram).Pointer()
	if !slices.ContainsFunc(parts, func(p part) bool { return p.begin <= code && code < p.end }) {
		t.Errorf("the code at %x is in none of %x", code, parts)
	}
	giveBackProgram()
	if again := programParts(); !slices.Equal(again, parts) {
		t.Errorf("the program stood in %x, and now in %x", parts, again)
	}
}

func TestOnlyWhatIsNeverWrittenIsGivenBack(t *testing.T) {
	const file = "/opt/a program/tenon"
	for line, want := range map[string]bool{
		"00400000-01a2b000 r-xp 00000000 fe:00 42    " + file:              true,
		"01a2b000-02d5c000 r--p 0162b000 fe:00 42    " + file:              true,
		"02d5c000-02e10000 rw-p 0295c000 fe:00 42    " + file:              false,
		"7f00aa000000-7f00ab000000 r--p 00000000 fe:00 7 /etc/a " + "file": false,
		"7ffd1000-7ffd2000 r-xp 00000000 00:00 0     [vdso]":               false,
		"c000000000-c000400000 rw-p 00000000 00:00 0":                      false,
		"x-y r-xp 00000000 fe:00 42 " + file:                               false,
		"":                                                                 false,
	} {
		p, ok := readOnly(line, file)
		if ok != want || ok && p.begin >= p.end {
			t.Errorf("%q: %x, %t", line, p, ok)
		}
	}
}
