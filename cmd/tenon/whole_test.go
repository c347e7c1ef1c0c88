package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A file is replaced in whole, keeps its mode, and a link leads where it led.
func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "second"} {
		if err := writeWhole(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(dir, "link")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if err := writeWhole(link, []byte("third")); err != nil {
			t.Fatal(err)
		}
		if err := writeWhole(path, []byte("fourth")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(link)
		got, _ := os.ReadFile(link)
		if err != nil || info.Mode().IsRegular() || string(got) != "fourth" {
			t.Errorf("the link holds %q, %v", got, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	if err := writeWhole(filepath.Join(dir, "none", "file"), nil); err == nil {
		t.Error("a folder that is not there was written to")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".new-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
