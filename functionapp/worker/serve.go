package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
)

// endpoint runs one function.
type endpoint struct {
	name string // name of the function
	run  runner
}

// runner runs a function and returns its value as JSON.
type runner func(context.Context, functionapp.Context, *lines) (value []byte, err error)

// Handler returns the HTTP handler for the host's calls: POST /<function>,
// ignoring case; anything else is 404, by which a host recognizes a running
// worker.
func (a *App) Handler() (http.Handler, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	h := &handler{app: a, endpoints: map[string]endpoint{}}
	gateway := a.gateway()
	for _, t := range a.tools {
		h.add(t.folder(), callTool(gateway, t.described.Name))
	}
	for _, r := range a.resources {
		h.add(r.folder(), readResource(r))
	}
	for _, p := range a.prompts {
		h.add(p.folder(), getPrompt(p))
	}
	return h, nil
}

type handler struct {
	app       *App
	endpoints map[string]endpoint // by lower-case function name
}

func (h *handler) add(function string, run runner) {
	h.endpoints[strings.ToLower(function)] = endpoint{function, run}
}

// binding is the name of every emitted trigger.
const binding = "context"

// ServeHTTP handles one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !loopback(r.Host) {
		http.Error(w, "a worker answers its own host alone", http.StatusForbidden)
		return
	}
	e, known := h.endpoints[strings.ToLower(strings.Trim(r.URL.Path, "/"))]
	switch {
	case r.URL.Path == "/":
		w.WriteHeader(http.StatusOK)
		return
	case !known:
		fail(w, http.StatusNotFound, fmt.Sprintf("there is no function %q", r.URL.Path))
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		fail(w, http.StatusMethodNotAllowed, "a function is called by POST")
		return
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		fail(w, http.StatusUnsupportedMediaType, "a call is application/json")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.app.o.MaxBody))
	if err != nil {
		fail(w, statusOf(err), "the call could not be read: "+err.Error())
		return
	}
	call, err := functionapp.ReadInvocation(body, binding)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	h.run(w, r, e, call)
}

// run calls the function and writes its result.
func (h *handler) run(w http.ResponseWriter, r *http.Request, e endpoint, call functionapp.Context) {
	ctx, cancel := context.WithTimeout(r.Context(), h.app.o.Timeout)
	defer cancel()
	ctx = context.WithValue(ctx, invocationKey{}, Invocation{ID: r.Header.Get(functionapp.InvocationID), Context: call})
	var log lines
	value, err := h.guarded(ctx, e, call, &log)
	if err != nil {
		fail(w, statusOf(err), append(log.all(), err.Error())...)
		return
	}
	answer(w, http.StatusOK, functionapp.Response{Logs: log.all(), ReturnValue: value})
}

// guarded converts a panic into an error with an id that links the response to
// the log.
func (h *handler) guarded(ctx context.Context, e endpoint, call functionapp.Context, log *lines) (value []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			id := rand.Text()[:8]
			h.app.o.Logger.Error("a function panicked", "function", e.name, "incident", id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			value, err = nil, fmt.Errorf("the function failed inside; the log of the worker has incident %s", id)
		}
	}()
	return e.run(ctx, call, log)
}

// loopback reports whether a Host header names this machine. Others are DNS
// rebinding attempts of browsers.
func loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

func statusOf(err error) int {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	case tenon.CodeOf(err) == tenon.CodeNotFound:
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// fail reports a failed invocation, with the reason in its log.
func fail(w http.ResponseWriter, status int, log ...string) {
	answer(w, status, functionapp.Response{Logs: log})
}

func answer(w http.ResponseWriter, status int, r functionapp.Response) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(r.Append(nil)) // the host has disconnected
}

// Serve serves the host on l until ctx ends. Then running calls may finish
// within [Options].Drain; after that their contexts are cancelled. l is closed.
func (a *App) Serve(ctx context.Context, l net.Listener) error {
	h, err := a.Handler()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return calls },
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if shut(calls, s, a.o.Drain) != nil {
		cancel()
		if shut(context.WithoutCancel(ctx), s, afterCancel) != nil {
			return errors.Join(errors.New("calls went on after they were cancelled"), s.Close())
		}
	}
	return nil
}

// afterCancel is the time for calls to notice their cancellation.
const afterCancel = 5 * time.Second

func shut(ctx context.Context, s *http.Server, within time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return s.Shutdown(limited)
}
