package atomicfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tenon-mcp/tenon/internal/atomicfile"
)

// A file is replaced in whole, keeps its mode, and a link leads where it led.
func TestOverwrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "second"} {
		if err := atomicfile.Overwrite(path, []byte(text)); err != nil {
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
		if err := atomicfile.Overwrite(link, []byte("third")); err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.Overwrite(path, []byte("fourth")); err != nil {
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
	if err := atomicfile.Overwrite(filepath.Join(dir, "none", "file"), nil); err == nil {
		t.Error("a folder that is not there was written to")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".new-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// Write makes the folders, and what stood at the name is replaced: what a link
// leads to is not touched.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "file")
	if err := atomicfile.Write(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "first" {
		t.Errorf("%q, %v", got, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(link, []byte("second")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "first" {
		t.Errorf("what the link led to is %q, %v", got, err)
	}
}
