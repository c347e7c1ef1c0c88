package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestProgramIsGivenBack(t *testing.T) {
	before := fileMemory(t)
	giveBackProgram()
	if after := fileMemory(t); after >= before {
		t.Errorf("%d KiB of files were resident, %d are", before, after)
	}
}

// fileMemory is how much of files is resident, in KiB.
func fileMemory(t *testing.T) (kib int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Skip("the system does not tell what is resident of files")
	}
	return kib
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
		begin, end, ok := readOnly(line, file)
		if ok != want || ok && begin >= end {
			t.Errorf("%q: %x to %x, %t", line, begin, end, ok)
		}
	}
}
