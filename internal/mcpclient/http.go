package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// OverHTTP speaks to the server at a URL in streamable HTTP, through a client of
// [egress.NewClient]. header is sent with every request; nil: nothing is. Of a
// URL without a path, /mcp and /jsonrpc are tried as well.
func OverHTTP(address string, client *http.Client, header http.Header, o Options) *Client {
	return &Client{options: o, wire: &posts{url: address, others: endpointsOf(address), client: client, header: header, modern: o.Revision == Modern}}
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
	client *http.Client
	header http.Header
	modern bool

	mu      sync.Mutex
	url     string
	others  []string // where it may be spoken instead, tried before anything was answered
	begun   bool     // something was answered
	session string
}

func (p *posts) close() {}

func (p *posts) send(ctx context.Context, message []byte) error {
	res, err := p.post(ctx, request{body: message})
	if err != nil {
		return err
	}
	return res.Close()
}

// response is one to a POST: a stream of events, or a body.
type response struct {
	*egress.Stream

	isStream bool
	body     []byte
}

func (r *response) Close() error {
	if r.isStream {
		return r.Stream.Close()
	}
	return nil // it was read
}

// speaksMCP reports whether a server of MCP has answered, or something else.
func (r *response) speaksMCP() bool {
	return r.isStream || isObject(r.body) && bytes.Contains(r.body, []byte(`"jsonrpc"`))
}

func isObject(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) }

// exchange reads a response as it arrives: what the server asks in its course is
// answered by requests of their own.
func (p *posts) exchange(ctx context.Context, r request, came func(*message) (bool, error)) error {
	res, err := p.post(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Close() }()
	answered := false
	hear := func(raw []byte) (bool, error) {
		m := decode(raw)
		isResponse := m.Method == "" && m.broken == nil
		if isResponse && string(m.ID) != r.id && (m.Error == nil || m.ID != nil && string(m.ID) != "null") {
			return false, nil
		}
		last, err := came(m)
		answered = answered || last
		return last, err
	}
	switch {
	case res.isStream:
		err = events(res, hear)
	case len(bytes.TrimSpace(res.body)) > 0:
		_, err = hear(res.body)
	}
	switch {
	case err != nil || answered:
		return err
	case res.Status >= http.StatusBadRequest:
		return statusError(res)
	}
	return r.failed(errors.New("the server sent no answer"))
}

func statusError(res *response) error {
	return fmt.Errorf("the server answers HTTP %d: %.300s", res.Status, bytes.TrimSpace(res.body))
}

// post sends a message. The first one finds out where the server is.
func (p *posts) post(ctx context.Context, r request) (*response, error) {
	for {
		res, err := p.postOnce(ctx, r)
		if err != nil {
			return nil, err
		}
		p.mu.Lock()
		elsewhere := !p.begun && !res.speaksMCP() && len(p.others) > 0
		if elsewhere {
			p.url, p.others = p.others[0], p.others[1:]
		} else {
			p.begun = true
			if id := res.Header.Get("Mcp-Session-Id"); id != "" {
				p.session = id
			}
		}
		p.mu.Unlock()
		switch {
		case elsewhere:
			continue
		case res.Status >= http.StatusBadRequest && !res.isStream && !isObject(res.body):
			return nil, statusError(res)
		}
		return res, nil
	}
}

func (p *posts) postOnce(ctx context.Context, r request) (*response, error) {
	p.mu.Lock()
	address, session, begun := p.url, p.session, p.begun
	p.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	if p.header != nil {
		req.Header = p.header.Clone()
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	switch {
	case p.modern:
		req.Header.Set("Mcp-Protocol-Version", Modern)
		req.Header.Set("Mcp-Method", r.method)
		if r.name != "" {
			req.Header.Set("Mcp-Name", headerValue(r.name))
		}
	case begun:
		req.Header.Set("Mcp-Protocol-Version", Legacy)
	}
	stream, _, err := egress.Open(p.client, req, maxAnswer)
	if err != nil {
		return nil, err
	}
	res := &response{Stream: stream, isStream: strings.HasPrefix(stream.Header.Get("Content-Type"), "text/event-stream")}
	if !res.isStream {
		whole, err := stream.ReadAll()
		if err != nil {
			return nil, err
		}
		res.body = whole.Body
	}
	return res, nil
}

// headerValue is a name as a header can carry it: what it cannot comes in base64.
func headerValue(name string) string {
	if strings.TrimSpace(name) != name || strings.HasPrefix(name, "=?") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
	}
	return name
}

// events hands over the data of server-sent events until that was the last.
func events(stream io.Reader, hear func(data []byte) (last bool, err error)) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxAnswer)
	var data []byte
	end := func() (bool, error) {
		text := bytes.TrimSpace(data)
		data = nil
		if len(text) == 0 {
			return false, nil
		}
		return hear(text)
	}
	for lines.Scan() {
		text := lines.Bytes()
		if rest, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(rest, []byte(" "))...), '\n')
		} else if len(text) == 0 {
			if last, err := end(); last || err != nil {
				return err
			}
		}
	}
	if err := tooLong(lines.Err()); err != nil {
		return err
	}
	_, err := end() // some servers end without an empty line
	return err
}
