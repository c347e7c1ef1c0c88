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

// files is a description whose files are replaced, half-written, truncated and
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
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("other%d", i))
	}
	versions := []string{
		document("http://"+up, "steady"),
		document("http://"+up, append([]string{"steady"}, many[:10]...)...),
		document("http://"+up, append(many, "steady")...),
	}
	t, err := serve(ctx, tenon, versions[0], "--shape", "native")
	if err != nil {
		return "", err
	}
	defer t.stop()
	file := filepath.Join(t.folder, "openapi.json")
	began, stopped := t.descriptors(), make(chan struct{})
	var calls, lists atomic.Int64
	until := time.Now().Add(*swapTime)
	clients := make(chan error, 1)
	go func() {
		clients <- together(6, func(i int) error {
			for {
				select {
				case <-stopped:
					return nil
				default:
				}
				if i == 0 {
					got, err := t.post(ctx, message("tools/list", ""))
					if err != nil || !strings.Contains(got, `"steady"`) {
						return fmt.Errorf("a list without its tool: %.200s %w", got, err)
					}
					lists.Add(1)
					continue
				}
				got, err := t.call(ctx, "steady", "{}")
				if err != nil || !strings.Contains(got, `"structuredContent":{"items":[{"id":1,"name":"steady"}]}`) {
					return fmt.Errorf("a call while files change: %.300s %w", got, err)
				}
				calls.Add(1)
			}
		})
	}()
	random := rand.New(rand.NewPCG(1, 2))
	swaps := 0
	for time.Now().Before(until) && len(clients) == 0 {
		swaps++
		if err := swap(file, versions[random.IntN(len(versions))], random); err != nil {
			return "", err
		}
		time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
	}
	if err := replace(file, versions[2]); err != nil {
		return "", err
	}
	served := waitFor(20*time.Second, func() bool {
		got, _ := t.call(ctx, "other299", "{}")
		return strings.Contains(got, `"name":"other299"`)
	})
	close(stopped)
	if err := <-clients; err != nil {
		return "", err
	}
	if !served {
		return "", errors.New("what stands there in the end is not served:\n" + t.logged())
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
