package flowmcp_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/flowmcp"
)

func TestSchemaFilesAndListsAreWatched(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("shop/One.mjs", file(""))
	put("_lists/evm-chains.mjs", "export const evmChains = {}")
	put("selections/skills/a.mjs", "export const skill = { name: 'a', version: 'flowmcp/4.0.0', description: 'A', content: 'x' }")
	put("selections/one.mjs", "export const selection = { namespace: 'shop', name: 'one', whenToUse: 'x', skills: { a: { file: './skills/a.mjs' } } }")
	s := flowmcp.New(dir, flowmcp.Options{LibraryDir: filepath.Join(dir, "libs"), Selection: filepath.Join(dir, "selections", "one.mjs")})
	load := func() {
		t.Helper()
		if _, err := s.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	load()
	reported := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := s.Watch(ctx, func() { reported <- struct{}{} }); err != nil {
			t.Error(err)
		}
	})
	defer ended.Wait()
	defer cancel()
	for _, change := range []struct{ name, text string }{
		{"shop/One.mjs", file("") + " // changed"},
		{"shop/Two.mjs", file("")},
		{"other/Three.mjs", file("")},
		{"_lists/evm-chains.mjs", "export const evmChains = { }"},
		{"libs/libraries.json", "[]"},
		{"shop/skills/b.mjs", "export const skill = {}"},
		{"shop/skills/b.mjs", "export const skill = { name: 'b' }"},
		{"selections/skills/a.mjs", "export const skill = { name: 'a', version: 'flowmcp/4.0.0', description: 'A', content: 'x' } // changed"},
		{"selections/one.mjs", "export const selection = { namespace: 'shop', name: 'one', whenToUse: 'y', skills: { a: { file: './skills/a.mjs' } } }"},
	} {
		put(change.name, change.text)
		select {
		case <-reported:
		case <-time.After(time.Minute):
			t.Fatalf("%s: the change was never reported", change.name)
		}
		load()
	}
}
