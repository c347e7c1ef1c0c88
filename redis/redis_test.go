package redis_test

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/redis"
	"github.com/tenon-mcp/tenon/tenontest"
)

// start starts a real server on a free port, and skips the test where there is none.
func start(t *testing.T, more ...string) (address string) {
	t.Helper()
	address, _ = startServer(t, more...)
	return address
}

// startServer is start; kill ends the server as a crash does.
func startServer(t *testing.T, more ...string) (address string, kill func()) {
	t.Helper()
	program := os.Getenv("TENON_STORE_SERVER") // such as that of Valkey
	for _, name := range []string{"redis-server", "valkey-server"} {
		if program == "" {
			program, _ = exec.LookPath(name)
		}
	}
	if program == "" {
		t.Skip("there is no redis-server and no valkey-server")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	_ = l.Close()
	cmd := exec.Command(program, arguments(port, t.TempDir(), more)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	t.Cleanup(kill)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if text := lines.Text(); strings.Contains(text, "Ready to accept connections") || strings.Contains(text, "+monitor master") {
			return address, kill
		}
	}
	t.Fatal("the server did not start")
	return "", nil
}

// arguments are those of a server; a sentinel begins with its file, and has no others.
func arguments(port, dir string, more []string) []string {
	if len(more) > 0 && strings.HasSuffix(more[0], ".conf") {
		return append(slices.Clone(more), "--port", port, "--bind", "127.0.0.1", "--dir", dir)
	}
	return append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", ""}, more...)
}

func open(t *testing.T, url string, o redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStore runs the checks of every Store against a real server. Each has a prefix of
// its own, so that it begins with an empty store.
func TestStore(t *testing.T) {
	address := start(t)
	tenontest.Store(t, func(t *testing.T) tenon.Store {
		return open(t, "redis://"+address, redis.Options{Prefix: t.Name()})
	}, tenontest.StateOptions{})
}

func TestLivesEnd(t *testing.T) {
	address := start(t)
	s := open(t, "redis://"+address, redis.Options{})
	defer s.Close()
	ctx := t.Context()
	if err := s.Put(ctx, "k", []byte("v"), 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Increment(ctx, "n", 1, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for { // until the server says so, which has its own clock
		_, ok, err := s.Get(ctx, "k")
		if err != nil {
			t.Fatal(err)
		}
		sum, err := s.Increment(ctx, "n", 1, 50*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if !ok && sum == 1 {
			return
		}
	}
}

func TestLargeValuesAreCompressed(t *testing.T) {
	address := start(t)
	s := open(t, "redis://"+address, redis.Options{MaxValue: 1 << 20})
	defer s.Close()
	ctx := t.Context()
	for _, n := range []int{0, 1, 4095, 4096, 1 << 20} {
		value := bytes.Repeat([]byte("7"), n)
		if err := s.Put(ctx, "k", value, time.Minute); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Get(ctx, "k"); err != nil || !ok || !bytes.Equal(got, value) {
			t.Errorf("%d bytes: %d %v %v", n, len(got), ok, err)
		}
	}
	if err := s.Put(ctx, "k", make([]byte, 1<<20+1), time.Minute); !errors.Is(err, tenon.ErrStoreFull) {
		t.Errorf("a value that is too large: %v", err)
	}
}

func TestAStoreThatIsFull(t *testing.T) {
	address := start(t, "--maxmemory", "3mb", "--maxmemory-policy", "noeviction")
	s := open(t, "redis://"+address, redis.Options{})
	defer s.Close()
	ctx := t.Context()
	noise := make([]byte, 64<<10)
	for i := range noise {
		noise[i] = byte(i * i >> 3)
	}
	var err error
	for i := 0; i < 1000 && err == nil; i++ {
		noise[0]++
		err = s.Put(ctx, string(rune('a'+i)), append([]byte(nil), noise[:4000]...), time.Minute)
	}
	if !errors.Is(err, tenon.ErrStoreFull) {
		t.Errorf("got %v", err)
	}
}

func TestPasswords(t *testing.T) {
	address := start(t, "--requirepass", "s3cret")
	if _, err := redis.Open(t.Context(), "redis://"+address, redis.Options{Password: "wrong"}); err == nil || strings.Contains(err.Error(), "wrong\"") {
		t.Errorf("a wrong password: %v", err)
	}
	s := open(t, "redis://"+address, redis.Options{Password: "s3cret"})
	if err := s.Put(t.Context(), "k", nil, time.Minute); err != nil {
		t.Error(err)
	}
	_ = s.Close()
}

// TestRights runs the checks as a user with the rights that docs/replicas.md names.
func TestRights(t *testing.T) {
	rights := strings.Fields("+@read +@write +@connection +@transaction +publish +subscribe ~tenon:* &tenon:*")
	address := start(t, append([]string{"--user", "tenon", "on", ">s3cret"}, rights...)...)
	tenontest.Store(t, func(t *testing.T) tenon.Store {
		return open(t, "redis://tenon@"+address, redis.Options{Password: "s3cret", Prefix: "tenon:" + t.Name()})
	}, tenontest.StateOptions{})
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, url := range []string{
		"", "localhost", "http://localhost", "redis://", "redis://user:s3cret@host", "redis://a,b", "redis://host/x", "redis+cluster://a/1",
		"redis+sentinel://a", "redis+ring://a", "redis://host?db=1", "redis://@host", "redis+cluster://a,,b",
	} {
		_, err := redis.Open(t.Context(), url, redis.Options{})
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := redis.Open(t.Context(), "redis://127.0.0.1:1", redis.Options{Timeout: time.Second}); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("got %v", err)
	}
}
