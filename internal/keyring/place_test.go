package keyring

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

func TestPlacesOfCredentials(t *testing.T) {
	p := Places{Dir: filepath.Join(t.TempDir(), "credentials")}
	name := Name("cursor", "shop", "../a key")
	if strings.Contains(name, "..") || strings.Count(name, "/") != 2 || name == Name("cursor", "shop", "../a  key") {
		t.Errorf("%s", name)
	}

	keyring.MockInit()
	place, why, err := p.Save(name, "s3cret", Auto)
	if place != "keyring:"+name || why != nil || err != nil || place != p.Would(name, Auto) {
		t.Errorf("%s, %v, %v", place, why, err)
	}
	if err := p.Remove(place); err != nil {
		t.Error(err)
	}
	if _, err := Get(name); !errors.Is(err, ErrNotFound) {
		t.Errorf("it stays: %v", err)
	}

	keyring.MockInitWithError(errors.New("no such bus"))
	if place, _, err := p.Save(name, "s3cret", InKeyring); err == nil {
		t.Errorf("it is at %s", place)
	}
	place, why, err = p.Save(name, "s3cret", Auto)
	file := filepath.Join(p.Dir, filepath.FromSlash(name))
	if place != "file:"+file || why == nil || err != nil {
		t.Fatalf("%s, %v, %v", place, why, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("%v, %v", info, err)
	}
	for made, want := range map[string]bool{
		place: true, "keyring:" + name: true, "keyring:cursor/shop2/a": false, "keyring:cursor/shop": false, "file:/etc/passwd": false, "env:cursor/shop/a": false,
		"file:" + p.Dir + "/cursor/shop/../../../x": false,
	} {
		if p.Made(made, Name("cursor", "shop")) != want {
			t.Errorf("%s: made is %v", made, !want)
		}
	}
	for range 2 {
		if err := p.Remove(place); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(p.Dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
