package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// described is a description whose file is swapped.
type described struct {
	file     string
	versions []string // whole, the last one with a tool that the others lack
	steady   string   // a tool of all of them
	last     string   // the tool of the last one
}

// descriptions are those of every language. No beginning of a version is whole,
// so that what is truncated is never served.
func descriptions(base string) []described {
	return []described{
		{"openapi.json", []string{document(base, "steady"), document(base, names("steady", 10)...), document(base, names("steady", 200)...)}, "steady", "steady199"},
		{"openapi.yaml", []string{documentYAML(base, "firm"), documentYAML(base, names("firm", 10)...), documentYAML(base, names("firm", 200)...)}, "firm", "firm199"},
		{"Shop.mjs", []string{schemaMJS("calm"), schemaMJS(names("calm", 3)...), schemaMJS(names("calm", 7)...)}, "calm_shop", "calm6_shop"},
	}
}

// names are n names of operations after the first.
func names(first string, n int) []string {
	all := []string{first}
	for i := range n {
		all = append(all, fmt.Sprint(first, i))
	}
	return all
}

// documentYAML is what document describes, in YAML that is no JSON.
func documentYAML(base string, operations ...string) string {
	text := "# Swapped\n{openapi: 3.1.0, info: {title: Attacked, version: '1'}, servers: [{url: '" + base + "'}],\n" +
		"x-answer: &answer {description: ok, content: {application/json: {schema:\n" +
		"  {type: object, properties: {items: {type: array, items: {type: object, properties: {id: {type: integer}, name: {type: string}}, required: [id]}}}, required: [items]}}}},\n" +
		"paths: {\n"
	for _, o := range operations {
		text += "  /" + o + ": {get: {operationId: " + o + ", responses: {'200': *answer}}}, # one more\n"
	}
	return text + "}}\n"
}

// schemaMJS is a FlowMCP schema file with tools of those names.
func schemaMJS(tools ...string) string {
	text := "// Swapped\nexport const main = {\n    namespace: 'shop', name: 'Shop', description: 'Attacked', version: '4.0.0', root: 'https://shop.example',\n    tools: {\n"
	for _, tool := range tools {
		text += "        " + tool + ": { method: 'GET', path: '/" + tool + "', description: 'Lists items', parameters: [], tests: [ { _description: 'all' } ],\n" +
			"            meta: { isReadOnly: true, isConcurrencySafe: true, isDestructive: false } },\n"
	}
	return text + "    }\n}\n"
}

// files are descriptions whose files are replaced, half-written, truncated and
// taken away while clients call. A call of what stands in every whole version is
// answered all the time; in the end what is there is served, and neither
// descriptors nor memory are lost.
func files(ctx context.Context, tenon string) (string, error) {
	up, err := upstream(ctx, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"items":[{"id":1,"name":"` + strings.Trim(r.URL.Path, "/") + `"}]}`))
	})
	if err != nil {
		return "", err
	}
	all := descriptions("http://" + up)
	first := map[string]string{}
	for _, d := range all {
		first[d.file] = d.versions[0]
	}
	t, err := serveFiles(ctx, tenon, nil, first, "--envelope", "native", "--base-url", "http://"+up)
	if err != nil {
		return "", err
	}
	defer t.stop()
	began, stopped := t.descriptors(), make(chan struct{})
	var calls, lists atomic.Int64
	until := time.Now().Add(*swapTime)
	clients := make(chan error, 1)
	go func() {
		clients <- together(7, func(i int) error {
			for {
				select {
				case <-stopped:
					return nil
				default:
				}
				d := all[i%len(all)]
				if i == 0 {
					got, err := t.wholeList(ctx)
					for _, d := range all {
						if err != nil || !strings.Contains(got, `"`+d.steady+`"`) {
							return fmt.Errorf("a list without %s: %.200s %w", d.steady, got, err)
						}
					}
					lists.Add(1)
					continue
				}
				got, err := t.call(ctx, d.steady, "{}")
				path, _, _ := strings.Cut(d.steady, "_")
				if err != nil || !strings.Contains(got, `"structuredContent":{"items":[{"id":1,"name":"`+path+`"}]}`) {
					return fmt.Errorf("a call of %s while files change: %.300s %w", d.steady, got, err)
				}
				calls.Add(1)
			}
		})
	}()
	random := rand.New(rand.NewPCG(1, 2))
	swaps := 0
	for time.Now().Before(until) && len(clients) == 0 {
		swaps++
		d := all[random.IntN(len(all))]
		if err := swap(filepath.Join(t.folder, d.file), d.versions[random.IntN(len(d.versions))], random); err != nil {
			return "", err
		}
		time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
	}
	var missing []string
	for _, d := range all {
		if err := replace(filepath.Join(t.folder, d.file), d.versions[2]); err != nil {
			return "", err
		}
		if !waitFor(20*time.Second, func() bool {
			got, _ := t.call(ctx, d.last, "{}")
			return strings.Contains(got, `"structuredContent":{"items":[`)
		}) {
			missing = append(missing, d.last)
		}
	}
	close(stopped)
	if err := <-clients; err != nil {
		return "", err
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("what is there in the end is not served: %v\n%s", missing, t.logged())
	}
	http.DefaultClient.CloseIdleConnections()
	left := 0
	waitFor(70*time.Second, func() bool { left = t.descriptors(); return left <= began+4 })
	if left > began+4 {
		return "", fmt.Errorf("%d descriptors at the start, %d in the end", began, left)
	}
	return fmt.Sprintf("%d swaps, %d calls and %d lists beside them, peak %d MB", swaps, calls.Load(), lists.Load(), t.megabytes("VmHWM")), nil
}

// swap does to a file what editors, copies and failing disks do.
func swap(file, text string, random *rand.Rand) error {
	switch random.IntN(6) {
	case 0: // whole, in one step
		return replace(file, text)
	case 1: // in place, at once
		return os.WriteFile(file, []byte(text), 0o600)
	case 2: // in place, half of it, and the rest a moment later
		half := random.IntN(len(text))
		if err := os.WriteFile(file, []byte(text[:half]), 0o600); err != nil {
			return err
		}
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		return os.WriteFile(file, []byte(text), 0o600)
	case 3: // truncated, and left so
		return os.WriteFile(file, []byte(text[:random.IntN(len(text))]), 0o600)
	case 4: // gone
		if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	// A folder in its place, and gone again.
	_ = os.Remove(file)
	if err := os.Mkdir(file, 0o700); err != nil {
		return err
	}
	time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
	return os.Remove(file)
}

func replace(file, text string) error {
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// waitFor waits until it is so, and reports whether it became so.
func waitFor(most time.Duration, so func() bool) bool {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if so() {
			return true
		}
	}
	return so()
}

// descriptors is how many the server has open.
func (t *target) descriptors() int {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", t.cmd.Process.Pid))
	return len(all)
}

// wholeList asks for all pages of the list: on a busy machine one page does not
// have all tools. A cursor that a reload has made void begins again.
func (t *target) wholeList(ctx context.Context) (string, error) {
	var all strings.Builder
	for cursor := ""; ; {
		got, err := t.post(ctx, message("tools/list", cursor))
		if err != nil {
			return got, err
		}
		if cursor != "" && strings.Contains(got, `"error"`) {
			all.Reset()
			cursor = ""
			continue
		}
		all.WriteString(got)
		_, next, more := strings.Cut(got, `"nextCursor":"`)
		if !more {
			return all.String(), nil
		}
		next, _, _ = strings.Cut(next, `"`)
		cursor = `"cursor":"` + next + `"`
	}
}
