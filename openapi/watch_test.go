package openapi_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/openapi"
)

func TestEveryFileOfADocumentIsWatched(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("main.yaml", `{openapi: 3.1.0, info: {title: t, version: "1"}, servers: [{url: "https://a.test"}], paths: {
  /a: {get: {operationId: a, parameters: [{$ref: 'parts.yaml#/p'}, {$ref: 'later.yaml#/p'}], responses: {"200": {description: ok}}}}}}`)
	put("parts.yaml", "p: {name: q, in: query, schema: {type: string}}")
	put("overlay.yaml", "{overlay: 1.0.0, info: {title: o, version: '1'}, actions: [{target: $.info, update: {x-a: 1}}]}")
	put("rules.txt", "id:a\n")
	s := openapi.New(filepath.Join(dir, "main.yaml"), openapi.Options{
		Overlays:  []string{filepath.Join(dir, "overlay.yaml")},
		Selection: openapi.Selection{Include: []string{"@" + filepath.Join(dir, "rules.txt")}},
	})
	load := func() {
		t.Helper()
		offer, err := s.Load(t.Context())
		if err != nil || len(offer.Tools) != 1 {
			t.Fatalf("%d tools, %v", len(offer.Tools), err)
		}
		offer.Tools[0].Contract.PublishedContract() // opens the other files
	}
	load()
	told := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := s.Watch(ctx, func() { told <- struct{}{} }); err != nil {
			t.Error(err)
		}
	})
	defer ended.Wait()
	defer cancel()
	for _, change := range []struct{ name, text string }{
		{"parts.yaml", "p: {name: r, in: query, schema: {type: string}}"},
		{"later.yaml", "p: {name: s, in: query, schema: {type: string}}"}, // was missing
		{"overlay.yaml", "{overlay: 1.0.0, info: {title: o, version: '1'}, actions: [{target: $.info, update: {x-a: 2}}]}"},
		{"rules.txt", "id:a\n# a remark\n"},
		{"main.yaml", `{openapi: 3.1.0, info: {title: t, version: "2"}, servers: [{url: "https://a.test"}], paths: {/a: {get: {operationId: a, responses: {"200": {description: ok}}}}}}`},
	} {
		put(change.name, change.text)
		select {
		case <-told:
		case <-time.After(time.Minute):
			t.Fatalf("%s: the change was never told", change.name)
		}
		load()
	}
}
