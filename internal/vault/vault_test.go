package vault_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-mcp/tenon/internal/vault"
)

func key(t testing.TB, n int) vault.Key {
	k, err := vault.ParseKey(strings.Repeat(fmt.Sprintf("%02x", n), 31) + "ff")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func open(t testing.TB, dir string, keys ...vault.Key) *vault.Vault {
	b, err := vault.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	v, err := vault.New(b, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var alice = vault.Label{Issuer: "https://login.example", Subject: "alice", Source: "shop", Scheme: "key", Origin: "https://api.example"}

// files are those of a folder, in their order.
func files(t testing.TB, dir string) (all []string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWhatWasStoredComesBack(t *testing.T) {
	dir := t.TempDir()
	v := open(t, dir, key(t, 1))
	if _, err := v.Get(alice); !errors.Is(err, vault.ErrNone) {
		t.Fatal(err)
	}
	if err := v.Put(alice, "s3cret-value"); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, dir, key(t, 1)).Get(alice)
	if err != nil || string(got.Value) != "s3cret-value" || got.Label != alice || got.Stored.IsZero() {
		t.Fatal(got, err)
	}
	if text := fmt.Sprintf("%v %+v %#v", got, got, got); strings.Contains(text, "s3cret") {
		t.Error("it prints")
	}
	all, err := v.List(alice.Issuer, alice.Subject)
	if err != nil || len(all) != 1 || all[0].Value != "" || all[0].Label != alice {
		t.Error(all, err)
	}
	if others, err := v.List(alice.Issuer, "mallory"); err != nil || len(others) != 0 {
		t.Error(others, err)
	}
	for _, file := range files(t, dir) {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil || info.Mode().Perm() != 0o600 || bytes.Contains(text, []byte("s3cret")) || bytes.Contains(text, []byte("alice")) || strings.Contains(file, "alice") {
			t.Error(file, info.Mode(), err)
		}
	}
	if err := v.Delete(alice); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Get(alice); !errors.Is(err, vault.ErrNone) || len(files(t, dir)) != 0 {
		t.Error(err, files(t, dir))
	}
}

func TestEveryPartOfALabelCounts(t *testing.T) {
	v := open(t, t.TempDir(), key(t, 1))
	if err := v.Put(alice, "x"); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*vault.Label){
		func(l *vault.Label) { l.Issuer = "https://other.example" }, func(l *vault.Label) { l.Subject = "mallory" }, func(l *vault.Label) { l.Source = "pets" },
		func(l *vault.Label) { l.Scheme = "key2" }, func(l *vault.Label) { l.Origin = "https://evil.example" },
		func(l *vault.Label) { l.Issuer, l.Subject = l.Issuer+"a", l.Subject[1:] },
	} {
		other := alice
		change(&other)
		if _, err := v.Get(other); !errors.Is(err, vault.ErrNone) {
			t.Error(other, err)
		}
	}
	for _, empty := range []func(*vault.Label){func(l *vault.Label) { l.Subject = "" }, func(l *vault.Label) { l.Origin = "" }, func(l *vault.Label) { l.Scheme = "\xff" }} {
		other := alice
		empty(&other)
		if v.Put(other, "x") == nil {
			t.Error("stored", other)
		}
	}
}

func TestRecordsCannotBeSwapped(t *testing.T) {
	dir := t.TempDir()
	v := open(t, dir, key(t, 1))
	mallory := alice
	mallory.Subject = "mallory"
	if err := errors.Join(v.Put(alice, "of-alice"), v.Put(mallory, "of-mallory")); err != nil {
		t.Fatal(err)
	}
	both := files(t, dir)
	a, err1 := os.ReadFile(both[0])
	b, err2 := os.ReadFile(both[1])
	if err := errors.Join(err1, err2, os.WriteFile(both[0], b, 0o600), os.WriteFile(both[1], a, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, l := range []vault.Label{alice, mallory} {
		if _, err := v.Get(l); !errors.Is(err, vault.ErrDamaged) {
			t.Error(l, err)
		}
	}
}

func TestTornAndForeignFilesCostThemselves(t *testing.T) {
	dir := t.TempDir()
	v := open(t, dir, key(t, 1))
	other := alice
	other.Source = "pets"
	if err := v.Put(alice, "one"); err != nil {
		t.Fatal(err)
	}
	first := files(t, dir)[0]
	if err := v.Put(other, "two"); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(whole) {
		if err := os.WriteFile(first, whole[:i], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Get(alice); !errors.Is(err, vault.ErrDamaged) {
			t.Fatalf("%d bytes: %v", i, err)
		}
	}
	if got, err := v.Get(other); err != nil || got.Value != "two" {
		t.Error(err)
	}
	if all, err := v.List(alice.Issuer, alice.Subject); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
	if err := v.Put(alice, "anew"); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Get(alice); err != nil || got.Value != "anew" {
		t.Error(err)
	}
}

func TestKeysRotate(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir, key(t, 1)).Put(alice, "x"); err != nil {
		t.Fatal(err)
	}
	both := open(t, dir, key(t, 2), key(t, 1))
	if got, err := both.Get(alice); err != nil || got.Value != "x" {
		t.Fatal(err)
	}
	if _, err := open(t, dir, key(t, 2)).Get(alice); !errors.Is(err, vault.ErrDamaged) {
		t.Error(err)
	}
	if err := both.Put(alice, "y"); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t, dir, key(t, 2)).Get(alice); err != nil || got.Value != "y" {
		t.Error("the first key does not encrypt:", err)
	}
	if b, err := vault.Folder(dir); err != nil {
		t.Fatal(err)
	} else if _, err := vault.New(b, key(t, 1), key(t, 1)); err == nil {
		t.Error("one key twice")
	} else if _, err := vault.New(b); err == nil {
		t.Error("no key")
	}
}

func TestKeysAreLongAndRandom(t *testing.T) {
	for _, text := range []string{"", "hunter2", strings.Repeat("ab", 31), strings.Repeat("ab", 32) + "cd", strings.Repeat("0", 64), "not-hex-and-not-base64!"} {
		if _, err := vault.ParseKey(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	k, err := vault.ParseKey(" AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")
	if err != nil || strings.Contains(fmt.Sprintf("%v %+v", k, k), "1 2 3") {
		t.Error(err, k)
	}
}

func TestAUserHasBounds(t *testing.T) {
	v := open(t, t.TempDir(), key(t, 1))
	l := alice
	for i := range vault.MaxPerUser {
		l.Source = fmt.Sprint(i)
		if err := v.Put(l, "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Put(l, "again"); err != nil {
		t.Error("replacing:", err)
	}
	l.Source = "more"
	if err := v.Put(l, "x"); !errors.Is(err, vault.ErrFull) {
		t.Error(err)
	}
	l.Subject = "bob"
	if err := v.Put(l, "x"); err != nil {
		t.Error("somebody else:", err)
	}
	if v.Put(l, vault.Secret(strings.Repeat("x", vault.MaxValue+1))) == nil || v.Put(l, "") == nil {
		t.Error("too long or empty")
	}
}

// full is a disk that takes nothing more.
type full struct{ vault.Blobs }

func (full) Write(string, string, []byte) error { return syscall.ENOSPC }

func TestAFullDiskIsTold(t *testing.T) {
	b, err := vault.Folder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	v, err := vault.New(full{b}, key(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Put(alice, "x"); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
}

// What opens is what was stored; everything else is an error.
func FuzzRecord(f *testing.F) {
	dir := f.TempDir()
	v := open(f, dir, key(f, 1))
	if err := v.Put(alice, "what was stored"); err != nil {
		f.Fatal(err)
	}
	path := files(f, dir)[0]
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(0, byte(0), len(whole))
	f.Add(len(whole)-1, byte(1), len(whole))
	f.Add(20, byte(0x80), len(whole))
	f.Add(0, byte(0), 30)
	f.Fuzz(func(t *testing.T, at int, flip byte, length int) {
		changed := bytes.Clone(whole)
		if at >= 0 && at < len(changed) {
			changed[at] ^= flip
		}
		if length >= 0 && length < len(changed) {
			changed = changed[:length]
		} else if length > len(changed) && length < len(changed)+1000 {
			changed = append(changed, make([]byte, length-len(changed))...)
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := v.Get(alice)
		switch {
		case bytes.Equal(changed, whole):
			if err != nil || got.Value != "what was stored" {
				t.Error(err)
			}
		case !errors.Is(err, vault.ErrDamaged) || got.Value != "":
			t.Errorf("changed at %d by %d, %d bytes: %v", at, flip, length, err)
		}
	})
}
