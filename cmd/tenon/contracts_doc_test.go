package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// warehouse is the service of docs/contracts.md.
func warehouse(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/stock/1":
		_, _ = w.Write([]byte(`{"count":12,"places":["A1","A2"]}`))
	case "/stock/2":
		_, _ = w.Write([]byte(`{"count":"12","places":null,"note":null,"shelf":4}`))
	case "/items":
		_, _ = w.Write([]byte(`{"total":3,"items":[{"id":1,"name":"nail","words":"made of iron"},{"id":2,"name":"screw"},{"id":3,"name":"hook"}]}`))
	default:
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"message":"the printer is out of paper"}`))
	}
}

// TestContractsPage runs the commands of docs/contracts.md and compares what
// they print with what the page says. UPDATE_GOLDEN=1 rewrites the page.
func TestContractsPage(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(warehouse))
	defer upstream.Close()
	page, err := os.ReadFile("../../docs/contracts.md")
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("../../docs/warehouse.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "warehouse.yaml")
	if err := os.WriteFile(file, bytes.ReplaceAll(document, []byte("http://localhost:4000"), []byte(upstream.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	commands, fresh := 0, string(page)
	for _, block := range blocks(string(page), "console") {
		for _, command := range strings.Split(block, "$ tenon ")[1:] {
			commands++
			line, want, _ := strings.Cut(command, "\n")
			args := append(words(strings.ReplaceAll(line, "warehouse.yaml", file)), "--allow-private-host", "127.0.0.1")
			var printed strings.Builder
			run(t.Context(), env{in: strings.NewReader(""), out: &printed, err: &printed, getenv: os.LookupEnv}, args)
			fresh = strings.Replace(fresh, command, line+"\n"+printed.String(), 1)
			if diff := cmp.Diff(want, printed.String()); diff != "" {
				t.Errorf("tenon %s (-page +printed)\n%s", line, diff)
			}
		}
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile("../../docs/contracts.md", []byte(fresh), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if commands < 5 {
		t.Errorf("only %d commands were found", commands)
	}
}

// blocks returns the fenced blocks of a language.
func blocks(page, language string) (list []string) {
	for _, part := range strings.Split(page, "```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		list = append(list, block)
	}
	return list
}

// words splits a command line; single quotes keep a word together.
func words(line string) (list []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}
