package host

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/internal/proc"
)

const (
	pollEvery   = 25 * time.Millisecond  // as Azure's host does
	pollLater   = 200 * time.Millisecond // for a slow worker
	pollFastFor = 2 * time.Second        // polled often until then
	idleConns   = 256
	maxHeaders  = 64 << 10        // maximum bytes of response headers
	idleTime    = 4 * time.Second // Node closes idle connections after 5 s, which a call must not hit
)

// session is one process of a worker.
type session struct {
	child    *proc.Child
	said     *saidLog
	port     int
	url      string // without trailing slash
	web      *http.Client
	dialer   net.Dialer
	trusted  bool // trust any program on the port
	ready    bool
	foreign  atomic.Bool // another program was found on the port
	answered atomic.Bool // has answered a call
}

// start starts the worker and waits until it responds. An error means that it
// could not be started at all; a process that exited, or was killed because it
// did not respond, is a session that is not ready.
func (w *worker) start(ctx context.Context) (*session, error) {
	port, err := freePort(ctx, w.app.Host.Port)
	if err != nil {
		return nil, &tenon.Error{Code: tenon.CodeNetwork, Message: err.Error()}
	}
	child, err := proc.Start(w.app.command(w.o, port, w.said))
	if err != nil {
		return nil, &tenon.Error{Code: tenon.CodeNetwork, Message: "the worker of the app cannot be started", Err: err}
	}
	s := &session{child: child, said: w.said, port: port, url: "http://127.0.0.1:" + strconv.Itoa(port), trusted: w.o.TrustPort}
	s.web = newClient(s.dial)
	limited, cancel := context.WithTimeout(ctx, w.o.StartTimeout)
	defer cancel()
	if s.ready = s.awaitAnswer(limited); !s.ready && ctx.Err() == nil {
		why := ""
		if s.foreign.Load() {
			why = ": another program listens at its port"
		}
		child.Kill(fmt.Sprintf("it did not answer within %s%s", w.o.StartTimeout, why))
	}
	return s, nil
}

// newClient returns a client for one local worker, without proxy, redirects and
// compression.
func newClient(dial func(context.Context, string, string) (net.Conn, error)) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dial, MaxIdleConns: idleConns, MaxIdleConnsPerHost: idleConns, IdleConnTimeout: idleTime, DisableCompression: true,
			MaxResponseHeaderBytes: maxHeaders,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ended reports whether the process has ended.
func (s *session) ended() bool {
	select {
	case <-s.child.Done():
		return true
	default:
		return false
	}
}

// close ends the process and closes its connections.
func (s *session) close() {
	s.child.Stop(stopGrace)
	s.child.Close()
	s.web.CloseIdleConnections()
}

// awaitAnswer polls the root until it gets any HTTP response.
func (s *session) awaitAnswer(ctx context.Context) bool {
	began := time.Now()
	for ctx.Err() == nil {
		if s.knock(ctx) {
			return !s.ended() // otherwise another program has answered
		}
		every := pollEvery
		if time.Since(began) > pollFastFor {
			every = pollLater
		}
		pause := time.NewTimer(every)
		select {
		case <-pause.C:
		case <-ctx.Done():
		case <-s.child.Done():
			pause.Stop()
			return false
		}
	}
	return false
}

func (s *session) knock(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/", http.NoBody)
	if err != nil {
		return false
	}
	res, err := s.web.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return true
}

// freePort returns the port that the app wants, if it is free, or a free port.
// Another program can still take it first; then the worker fails and is
// restarted.
func freePort(ctx context.Context, wanted int) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(wanted))
	if err != nil && wanted != 0 {
		return 0, fmt.Errorf("the port %d, which host.json wants for the worker, is taken: stop what listens there or leave customHandler.port out", wanted)
	}
	if err != nil {
		return 0, fmt.Errorf("there is no free port for the worker: %w", err)
	}
	defer func() { _ = l.Close() }()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("there is no free port for the worker: %s", l.Addr())
	}
	return addr.Port, nil
}

// command returns the command line of the worker.
func (a *App) command(o Options, port int, said *saidLog) proc.Command {
	root, err := filepath.Abs(a.Dir)
	if err != nil {
		root = a.Dir
	}
	dir := root
	if a.Host.Dir != "" {
		dir = filepath.Join(root, a.Host.Dir)
		if filepath.IsAbs(a.Host.Dir) {
			dir = a.Host.Dir
		}
	}
	number := strconv.Itoa(port)
	mark := functionapp.EnvWorkerID + "=" + guid()
	return proc.Command{
		Path: executable(a.Host.Executable, dir, root), Args: a.Host.Args, Dir: dir,
		Env: a.environment(o.Environ,
			functionapp.EnvPort+"="+number, functionapp.EnvOldPort+"="+number,
			mark, functionapp.EnvOldID+"="+guid(),
			functionapp.EnvAppRoot+"="+root),
		Mark: mark, Line: said.line,
	}
}

// executable finds a file in one of the folders, or else in PATH.
func executable(name string, folders ...string) string {
	if filepath.IsAbs(name) {
		return name
	}
	for _, dir := range folders {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			return file
		}
	}
	return name
}
