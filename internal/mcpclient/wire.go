package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/proc"
)

// shellTarget is whom a shell speaks to.
type shellTarget struct {
	url   string
	stdio bool
	env   []string

	noSpec error // why the URL in url is no description; nil: nobody took it for one
}

// open reaches the server, or makes one of descriptions.
func (t *shellTarget) open(ctx context.Context, e env, sources *sources, args []string) (*peer, error) {
	switch {
	case t.url != "" && (t.stdio || len(args) > 0):
		return nil, usagef("--url stands alone: no SPEC, no command")
	case t.url != "":
		return t.reach(sources, e)
	case len(args) == 0:
		return nil, usagef("shell needs a SPEC, --url URL, or --stdio -- COMMAND")
	case t.stdio:
		return t.start(e, args)
	}
	w, err := sources.connect(ctx, e, args)
	if err != nil {
		_, where := app.SplitSpec(args[0])
		if len(args) > 1 || !isWebURL(where) || tenon.CodeOf(err) == tenon.CodeUsage || ctx.Err() != nil {
			return nil, err
		}
		if len(sources.config.Defaults.Header) > 0 { // they are for the API, whose host that need not be
			return nil, fmt.Errorf("%w; if an MCP server is there, name it with --url, so that --header is sent to it", err)
		}
		t.url, t.noSpec = where, err
		return t.reach(sources, e)
	}
	ctx, cancel := context.WithCancel(ctx)
	theirs, mine := io.Pipe()
	fromThem, toMe := io.Pipe()
	go func() {
		err := w.Server.ServeStdio(ctx, theirs, toMe)
		_ = toMe.CloseWithError(errors.Join(err, io.EOF))
	}()
	return &peer{wire: newLines(mine, fromThem), close: func() {
		cancel()
		_ = mine.Close()
		_ = fromThem.Close()
		w.Close()
	}}, nil
}

// start starts a server that is spoken to on its input and output.
func (t *shellTarget) start(e env, args []string) (*peer, error) {
	c := proc.Command{Path: args[0], Args: args[1:], Pipes: true}
	for _, name := range append([]string{"PATH", "HOME", "USER", "LANG", "TMPDIR", "APPDATA", "SYSTEMROOT"}, t.env...) {
		if v, ok := e.getenv(name); ok {
			c.Env = append(c.Env, name+"="+v)
		}
	}
	child, err := proc.Start(c)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	return &peer{wire: newLines(child.Stdin, child.Stdout), close: func() { child.Close() }}, nil
}

// lines is a conversation in lines.
type lines struct {
	to   io.Writer
	came chan line
}

type line struct {
	text []byte
	err  error
}

func newLines(to io.Writer, from io.Reader) *lines {
	l := &lines{to: to, came: make(chan line, 1)}
	incident.Go(nil, "reading answers", func() { l.read(from) }, nil)
	return l
}

func (l *lines) read(from io.Reader) {
	defer close(l.came)
	scan := bufio.NewScanner(from)
	scan.Buffer(nil, maxAnswer)
	for scan.Scan() {
		if text := bytes.TrimSpace(scan.Bytes()); len(text) > 0 && text[0] == '{' { // some servers print on it, too
			l.came <- line{text: bytes.Clone(text)}
		}
	}
	err := scan.Err()
	if err == nil {
		err = errors.New("the server has ended the conversation")
	}
	l.came <- line{err: err}
}

func (l *lines) send(_ context.Context, message []byte) error {
	_, err := l.to.Write(append(message, '\n'))
	return err
}

func (l *lines) receive(ctx context.Context) ([]byte, error) {
	select {
	case got, ok := <-l.came:
		if !ok {
			return nil, errors.New("the server has ended the conversation")
		}
		return got.text, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reach prepares a conversation over HTTP.
func (t *shellTarget) reach(sources *sources, e env) (*peer, error) {
	header, err := app.ParseHeaders(sources.config.Defaults.Header, e.getenv)
	if err != nil {
		return nil, err
	}
	allowed := sources.config.Defaults.AllowPrivateHost
	if u, err := url.Parse(t.url); err == nil && u.Host != "" {
		allowed = append(slices.Clip(allowed), u.Host) // who names a server wants that one
	}
	client, err := egress.NewClient(egress.Options{AllowHosts: allowed})
	if err != nil {
		return nil, usagef("--allow-private-host: %v", err)
	}
	return &peer{wire: &posts{url: t.url, others: endpointsOf(t.url), client: client, header: header}, close: func() {}}, nil
}

// isWebURL reports whether a SPEC is fetched.
func isWebURL(where string) bool {
	u, err := url.Parse(where)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// failed is why nobody could be spoken to, err being the last attempt.
func (t *shellTarget) failed(err error) error {
	if t.noSpec == nil {
		return err
	}
	return fmt.Errorf("%w; it is no MCP server either: %w", t.noSpec, err)
}

// endpointsOf are the other places at which a server named without a path may
// speak MCP.
func endpointsOf(address string) []string {
	u, err := url.Parse(address)
	if err != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil
	}
	return []string{u.JoinPath("mcp").String(), u.JoinPath("jsonrpc").String()}
}

// posts is a conversation over streamable HTTP.
type posts struct {
	url     string
	others  []string // where it may be spoken instead, tried before anything was answered
	client  *http.Client
	header  http.Header
	session string
	greeted bool
	came    [][]byte
}

func (p *posts) send(ctx context.Context, message []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(message))
	if err != nil {
		return err
	}
	req.Header = p.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if p.session != "" {
		req.Header.Set("Mcp-Session-Id", p.session)
	}
	if p.greeted {
		req.Header.Set("Mcp-Protocol-Version", shellProtocol)
	}
	first := !p.greeted
	p.greeted = true
	res, err := egress.Do(p.client, req, maxAnswer)
	if err != nil {
		return err
	}
	if isMCP := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") || bytes.HasPrefix(bytes.TrimSpace(res.Body), []byte(`{`)) && bytes.Contains(res.Body, []byte(`"jsonrpc"`)); first && !isMCP && len(p.others) > 0 {
		p.url, p.others, p.greeted = p.others[0], p.others[1:], false
		return p.send(ctx, message)
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		p.session = id
	}
	switch {
	case res.Status >= 400 && !bytes.HasPrefix(bytes.TrimSpace(res.Body), []byte("{")):
		return fmt.Errorf("the server answers HTTP %d: %.300s", res.Status, res.Body)
	case strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"):
		p.came = append(p.came, events(res.Body)...)
	case len(bytes.TrimSpace(res.Body)) > 0:
		p.came = append(p.came, res.Body)
	}
	return nil
}

func (p *posts) receive(context.Context) ([]byte, error) {
	if len(p.came) == 0 {
		return nil, errors.New("the server sent no answer")
	}
	first := p.came[0]
	p.came = p.came[1:]
	return first, nil
}

// events returns the data of server-sent events.
func events(stream []byte) (all [][]byte) {
	var data []byte
	for text := range bytes.Lines(append(bytes.ReplaceAll(stream, []byte("\r\n"), []byte("\n")), "\n\n"...)) {
		text = bytes.TrimSuffix(text, []byte("\n"))
		if rest, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(rest, []byte(" "))...), '\n')
		} else if len(text) == 0 && len(data) > 0 {
			if data = bytes.TrimSpace(data); len(data) > 0 {
				all = append(all, data)
			}
			data = nil
		}
	}
	return all
}
