package host

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/internal/proc"
)

const (
	pollEvery   = 25 * time.Millisecond  // as Azure's host does
	pollLater   = 200 * time.Millisecond // for a worker that takes its time
	pollPatient = 2 * time.Second        // until then it is asked often
	idleConns   = 256
	idleTime    = 4 * time.Second // Node hangs up after 5 s: a call must not meet that
)

// session is one process of a worker.
type session struct {
	child    *proc.Child
	port     int
	url      string // without the slash at the end
	web      *http.Client
	dialer   net.Dialer
	trusted  bool // whoever listens at the port is the worker
	ready    bool
	foreign  atomic.Bool // another program was met at the port
	answered atomic.Bool // it has answered a call
}

// start starts the worker and waits until it answers. The error means that
// there is nothing to start; a process that ended, or was killed because it
// did not answer, is a session that is not ready.
func (w *worker) start(ctx context.Context) (*session, error) {
	port, err := freePort(ctx, w.app.Host.Port)
	if err != nil {
		return nil, &tenon.Error{Code: tenon.CodeNetwork, Message: err.Error()}
	}
	child, err := proc.Start(w.app.command(w.o, port))
	if err != nil {
		return nil, &tenon.Error{Code: tenon.CodeNetwork, Message: "the worker of the app cannot be started", Err: err}
	}
	s := &session{child: child, port: port, url: "http://127.0.0.1:" + strconv.Itoa(port), trusted: w.o.TrustPort}
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

// newClient returns a client for one worker on this machine. It leaves by no
// proxy, follows nothing and asks for no compression.
func newClient(dial func(context.Context, string, string) (net.Conn, error)) *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial, MaxIdleConns: idleConns, MaxIdleConnsPerHost: idleConns, IdleConnTimeout: idleTime, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ended reports whether the process is gone.
func (s *session) ended() bool {
	select {
	case <-s.child.Done():
		return true
	default:
		return false
	}
}

// close ends the process if it runs, and what is open to it.
func (s *session) close() {
	s.child.Stop(stopGrace)
	s.child.Close()
	s.web.CloseIdleConnections()
}

// awaitAnswer asks for the root until any HTTP answer comes.
func (s *session) awaitAnswer(ctx context.Context) bool {
	began := time.Now()
	for ctx.Err() == nil {
		if s.knock(ctx) {
			return !s.ended() // else somebody else has answered
		}
		every := pollEvery
		if time.Since(began) > pollPatient {
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

// freePort returns the port that the app wants, if nobody has it, or any that
// is free. Another program can still take it before the worker does: then the
// worker ends and is started again.
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

// command is how the worker is started.
func (a *App) command(o Options, port int) proc.Command {
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
	return proc.Command{
		Path: executable(a.Host.Executable, dir, root), Args: a.Host.Args, Dir: dir,
		Env: a.environment(o.Environ,
			functionapp.EnvPort+"="+number, functionapp.EnvOldPort+"="+number,
			functionapp.EnvWorkerID+"="+guid(), functionapp.EnvOldID+"="+guid(),
			functionapp.EnvAppRoot+"="+root),
		Line: a.log(o),
	}
}

// executable is a file in one of the folders, or else a program of the system.
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

// log writes what the worker says, at the level that Azure's host gives it.
func (a *App) log(o Options) func(failing bool, line string) {
	log := o.Logger.With("app", a.Dir)
	return func(failing bool, line string) {
		lower := strings.ToLower(line)
		says := func(words ...string) bool {
			for _, w := range words {
				if strings.Contains(lower, w) {
					return true
				}
			}
			return false
		}
		switch {
		case !failing:
			log.Info(line)
		case says("warn"):
			log.Warn(line)
		case !a.Host.StderrMixed || says("error", "fail", "severe"):
			log.Error(line)
		default:
			log.Info(line)
		}
	}
}
