package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	killed   = 3  // replicas that are killed in turn
	replicas = 4  // one more lives
	clients  = 32 // at a time, each with a key of its own
	rate     = 20 // calls of the limited tool in a second, of all clients together
	burst    = 20
)

// world is all that runs.
type world struct {
	folder, tenon string
	journal       journal
	upstream      *http.Server
	store         *exec.Cmd
	storePort     string
	link          *storeProxy
	ports         [replicas]string
	proxy         *exec.Cmd
	base          string // of the proxy

	mu       sync.Mutex
	replicas [replicas]*exec.Cmd
	kills    int
	gone     []period // when the store could not be used
	memory   [3]memory
	told     []outcome
}

// period is a time from a failure to its end; a zero end: it lasts.
type period struct{ from, to time.Time }

// memory is what the replica that lives holds, summed over samples.
type memory struct{ kib, samples int64 }

func newWorld(ctx context.Context, tenon string) (*world, error) {
	folder, err := os.MkdirTemp("", "chaos")
	if err != nil {
		return nil, err
	}
	if tenon, err = filepath.Abs(tenon); err != nil {
		return nil, err
	}
	w := &world{folder: folder, tenon: tenon, journal: journal{came: map[string]int{}}}
	if err := w.start(ctx); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *world) start(ctx context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.upstream = &http.Server{Handler: &w.journal, ReadHeaderTimeout: time.Minute}
	go func() { _ = w.upstream.Serve(l) }()
	w.storePort = freePort()
	if err := w.startStore(); err != nil {
		return err
	}
	if w.link, err = newStoreProxy("127.0.0.1:" + w.storePort); err != nil {
		return err
	}
	for i := range w.ports {
		w.ports[i] = freePort()
	}
	if err := w.writeFiles("http://" + l.Addr().String()); err != nil {
		return err
	}
	for i := range replicas {
		if err := w.startReplica(ctx, i); err != nil {
			return err
		}
	}
	w.proxy = exec.Command("haproxy", "-f", w.file("haproxy.cfg")) //nolint:gosec // ours
	if err := w.proxy.Start(); err != nil {
		return err
	}
	return until("the proxy", func() bool { return healthy(w.base + "/readyz") })
}

func (w *world) file(name string) string { return filepath.Join(w.folder, name) }

// writeFiles writes the config of the replicas, which differ in their address alone,
// and that of the proxy.
func (w *world) writeFiles(upstream string) error {
	front := freePort()
	w.base = "http://127.0.0.1:" + front
	var config, servers strings.Builder
	fmt.Fprintf(&config, "store: redis://%s\nsecret: env:CHAOS_SECRET\nsessions: \"off\"\npage-size: 7\nallow-private-host: [127.0.0.1]\nallowed-host: [127.0.0.1:%s]\n", w.link.addr(), front)
	fmt.Fprintf(&config, "limit: {everybody limited: rate %d/s burst %d shared}\nsources: {shop: {spec: shop.json, max-result-bytes: 20000}}\napi-key:\n", rate, burst)
	for i := range clients {
		fmt.Fprintf(&config, "  c%d: env:CHAOS_KEY_%d\n", i, i)
	}
	for i, port := range w.ports {
		fmt.Fprintf(&servers, "  server r%d 127.0.0.1:%s check inter 250ms fall 1 rise 1\n", i, port)
	}
	proxy := "global\n  maxconn 4000\ndefaults\n  mode http\n  timeout connect 1s\n  timeout client 60s\n  timeout server 60s\n  retries 3\n  option redispatch 1\n  option abortonclose\n" +
		"frontend front\n  bind 127.0.0.1:" + front + "\n  default_backend replicas\nbackend replicas\n  balance roundrobin\n  option httpchk GET /readyz\n" + servers.String()
	return errors.Join(os.WriteFile(w.file("tenon.yaml"), []byte(config.String()), 0o600),
		os.WriteFile(w.file("shop.json"), document(upstream), 0o600), os.WriteFile(w.file("haproxy.cfg"), []byte(proxy), 0o600))
}

// startStore starts a Redis that has every command on disk before it answers, as an
// operator has to who wants confirmations to outlive it.
func (w *world) startStore() error {
	w.store = exec.Command("redis-server", "--port", w.storePort, "--bind", "127.0.0.1", "--dir", w.folder, "--save", "", "--appendonly", "yes", "--appendfsync", "always") //nolint:gosec // ours
	if err := w.store.Start(); err != nil {
		return err
	}
	return until("the store", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+w.storePort)
		if err != nil {
			return false
		}
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(time.Second))
		_, _ = c.Write([]byte("PING\r\n"))
		b := make([]byte, 16)
		n, _ := c.Read(b)
		return bytes.HasPrefix(b[:n], []byte("+PONG"))
	})
}

// restartStore kills the store and starts it again after a second.
func (w *world) restartStore() {
	end := w.begin()
	_ = w.store.Process.Kill()
	_ = w.store.Wait()
	time.Sleep(time.Second)
	if err := w.startStore(); err != nil {
		panic(err)
	}
	end()
}

// away cuts the store off, or lets it be reached again.
func (w *world) away(cut bool) {
	if cut {
		end := w.begin()
		w.link.set(true)
		time.AfterFunc(10*time.Second, end)
		return
	}
	w.link.set(false)
}

// begin notes that the store cannot be used from now until end is called.
func (w *world) begin() (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := len(w.gone)
	w.gone = append(w.gone, period{from: time.Now()})
	return func() {
		w.mu.Lock()
		w.gone[at].to = time.Now()
		w.mu.Unlock()
	}
}

func (w *world) startReplica(ctx context.Context, i int) error {
	log, err := os.OpenFile(w.file("log"+strconv.Itoa(i)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(ctx, w.tenon, "serve", "--config", "tenon.yaml", "--http", "127.0.0.1:"+w.ports[i]) //nolint:gosec // what is tested
	cmd.Dir, cmd.Stderr = w.folder, log
	cmd.Env = append(os.Environ(), "CHAOS_SECRET="+strings.Repeat("0123456789abcdef", 4))
	for n := range clients {
		cmd.Env = append(cmd.Env, fmt.Sprintf("CHAOS_KEY_%d=%s", n, key(n)))
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w.mu.Lock()
	w.replicas[i] = cmd
	w.mu.Unlock()
	return nil
}

// key is the key of a client.
func key(client int) string { return fmt.Sprintf("chaos-key-%04d-0123456789", client) }

// restartReplica kills a replica and starts it again. One that starts while the store is
// away ends: it is started until it stays, as a supervisor does.
func (w *world) restartReplica(ctx context.Context, i int) {
	w.mu.Lock()
	cmd := w.replicas[i]
	w.kills++
	w.mu.Unlock()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for ctx.Err() == nil {
		time.Sleep(300 * time.Millisecond)
		if err := w.startReplica(ctx, i); err != nil {
			panic(err)
		}
		if until("a replica", func() bool { return healthy("http://127.0.0.1:" + w.ports[i] + "/readyz") }) == nil {
			return
		}
		w.mu.Lock()
		cmd = w.replicas[i]
		w.mu.Unlock()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// reload has the replica that lives read its config again.
func (w *world) reload() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.replicas[killed].Process.Signal(syscall.SIGHUP)
}

// settle waits until the upstream has nothing in hand.
func (w *world) settle(context.Context) {
	_ = until("the last requests", func() bool {
		w.journal.mu.Lock()
		defer w.journal.mu.Unlock()
		return w.journal.waiting == 0
	})
}

func (w *world) close() {
	for _, cmd := range append(w.replicas[:], w.proxy, w.store) {
		if cmd != nil && cmd.Process != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	if w.upstream != nil {
		_ = w.upstream.Close()
	}
	_ = os.RemoveAll(w.folder)
}

// sampleMemory adds what the replica that lives holds to the third of the run that it is.
func (w *world) sampleMemory(now, lasts time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(w.replicas[killed].Process.Pid) + "/status")
	if err != nil {
		return
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return
	}
	kib, _ := strconv.ParseInt(fields[0], 10, 64)
	m := &w.memory[min(int(now*3/lasts), 2)]
	m.kib += kib
	m.samples++
}

func healthy(url string) bool {
	c := http.Client{Timeout: time.Second}
	r, err := c.Get(url)
	if err != nil {
		return false
	}
	_ = r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// until asks every 50 ms, for 20 seconds.
func until(what string, ready func() bool) error {
	for range 400 {
		if ready() {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New(what + " is not ready")
}

// freePort is a port that nobody had a moment ago.
func freePort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
