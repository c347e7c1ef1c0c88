package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fullDisk is a disk on which files cannot grow beyond 20 KiB: answers come all
// the same where they cannot be kept, a recording says that it is not whole, and
// what was there before is not lost.
func fullDisk(ctx context.Context, tenon string) (string, error) {
	up, err := upstream(ctx, itemsOf(`{"items":["`+strings.Repeat("x", 100<<10)+`"]}`))
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "attacks")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for name, text := range map[string]string{
		"providers/Food.mjs": `export const main = { namespace: 'shop', name: 'Food', description: 'Food', version: '4.0.0', root: 'https://shop.example', tools: { listFood: {` +
			` method: 'GET', path: '/food', description: 'Lists food', parameters: [], preload: { enabled: true, ttl: 3600 }, tests: [ { _description: 'all' } ],` +
			` meta: { isReadOnly: true, isConcurrencySafe: true, isDestructive: false } } } }`,
		"openapi.json": document("http://"+up, func() (all []string) {
			for i := range 200 {
				all = append(all, fmt.Sprintf("operation%d", i))
			}
			return all
		}()...),
		"filtered.json": "what was there before",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "bash", append([]string{"-c", `ulimit -f 20; exec "$@"`, "bash", tenon}, args...)...)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	there := []string{"--allow-private-host", "127.0.0.1", "--base-url", "http://" + up}
	for range 2 {
		out, err := run(append([]string{"call"}, append(there, "--cache-dir", "cache", "--max-result-bytes", "-1", "providers/Food.mjs", "list_food_shop")...)...)
		if err != nil || !strings.Contains(out, strings.Repeat("x", 100<<10)) {
			return "", fmt.Errorf("an answer that cannot be kept: %.300s %w", out, err)
		}
	}
	out, err := run(append([]string{"call", "--record", "record"}, append(there, "--no-cache", "--max-result-bytes", "-1", "providers/Food.mjs", "list_food_shop")...)...)
	if !strings.Contains(out, "file too large") || !strings.Contains(out, strings.Repeat("x", 100<<10)) {
		return "", fmt.Errorf("a recording that is not whole does not say so, or has taken the answer: %.500s %w", out, err)
	}
	out, err = run("filter", "-o", "filtered.json", "openapi.json")
	was, _ := os.ReadFile(filepath.Join(folder, "filtered.json"))
	if err == nil || !strings.Contains(out, "filtered.json") || string(was) != "what was there before" {
		return "", fmt.Errorf("a file that could not be written in whole: %.300s %w; it has %.60q", out, err, was)
	}
	var left []string
	_ = filepath.WalkDir(folder, func(path string, _ os.DirEntry, _ error) error {
		if strings.Contains(path, ".new-") {
			left = append(left, path)
		}
		return nil
	})
	if left != nil {
		return "", fmt.Errorf("left behind: %v", left)
	}
	return "answers, recordings and files", nil
}
