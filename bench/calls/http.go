package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/tenon-mcp/tenon/bench/sample"
)

// httpLoad is a closed loop over connections that stay open. It speaks
// HTTP/1.1 by itself: net/http costs more than some of the servers.
type httpLoad []*connection

// connection sends one request after the other.
type connection struct {
	net.Conn
	in     *bufio.Reader
	out    []byte
	body   []byte
	call   *message
	length int // of every answer
}

func dialHTTP(v *variant, tool string, n int, want *sample.Forecast) (load, error) {
	u, err := url.Parse(v.process.url)
	if err != nil {
		return nil, err
	}
	if v.stateful && v.session == "" {
		if err := v.initialize(u); err != nil {
			return nil, err
		}
	}
	var l httpLoad
	for i := range n {
		c, err := connect(u)
		if err != nil {
			l.close()
			return nil, err
		}
		l = append(l, c)
		if c.call, err = newMessage(tool, v.stateful, i*10_000_000); err != nil {
			l.close()
			return nil, err
		}
		c.out = head(u, v, tool, len(c.call.text))
		if err := c.first(want); err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

func connect(u *url.URL) (*connection, error) {
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: c, in: bufio.NewReaderSize(c, 64<<10)}, nil
}

// head is a request up to its body.
func head(u *url.URL, v *variant, tool string, length int) []byte {
	h := "POST " + u.Path + " HTTP/1.1\r\nHost: " + u.Host + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: " + strconv.Itoa(length) + "\r\n"
	switch {
	case !v.stateful:
		h += "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: " + tool + "\r\n"
	case v.session != "":
		h += "Mcp-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + v.session + "\r\n"
	}
	return []byte(h + "\r\n")
}

// initialize opens the session of a variant, which all connections share.
func (v *variant) initialize(u *url.URL) error {
	c, err := connect(u)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write(append(head(u, v, "", len(initText)), initText...)); err != nil {
		return err
	}
	status, session, err := c.answer()
	if err != nil || status != 200 || session == "" {
		return fmt.Errorf("initialize: status %d, session %q, %w: %.300s", status, session, err, c.body)
	}
	v.session = session
	if _, err := c.Write(append(head(u, v, "", len(readyMsg)), readyMsg...)); err != nil {
		return err
	}
	if status, _, err = c.answer(); err != nil || status != 202 {
		return fmt.Errorf("initialized: status %d, %w: %.300s", status, err, c.body)
	}
	return nil
}

// first sends one call and looks at its answer closely.
func (c *connection) first(want *sample.Forecast) error {
	if err := c.one(); err != nil {
		return err
	}
	c.length = len(c.body)
	return verify(c.body, want)
}

// one sends one call and reads its answer.
func (c *connection) one() error {
	request := append(c.out, c.call.stamp()...)
	if _, err := c.Write(request); err != nil {
		return err
	}
	c.out = request[:len(request)-len(c.call.text)]
	status, _, err := c.answer()
	switch {
	case err != nil:
		return err
	case status != 200 || c.length > 0 && len(c.body) != c.length:
		return fmt.Errorf("status %d, %d bytes after %d: %.300s", status, len(c.body), c.length, c.body)
	}
	return nil
}

func (l httpLoad) run(d time.Duration) (int, error) {
	end := time.Now().Add(d)
	counts, failures := make(chan int, len(l)), make(chan error, len(l))
	for _, c := range l {
		go func() {
			n := 0
			var err error
			for ; err == nil && time.Now().Before(end); n++ {
				err = c.one()
			}
			counts <- n
			failures <- err
		}()
	}
	total := 0
	var err error
	for range l {
		total += <-counts
		err = errors.Join(err, <-failures)
	}
	return total, err
}

func (l httpLoad) close() {
	for _, c := range l {
		_ = c.Close()
	}
}

// answer reads a response into body.
func (c *connection) answer() (status int, session string, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil || len(line) < 12 {
		return 0, "", errors.Join(err, fmt.Errorf("status line %q", line))
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, "", err
	}
	length, chunked := 0, false
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, "", err
		}
		name, value, ok := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		switch {
		case !ok:
			c.body = c.body[:0]
			if chunked {
				return status, session, c.chunks()
			}
			return status, session, c.read(length)
		case bytes.EqualFold(name, []byte("Content-Length")):
			length, err = strconv.Atoi(string(value))
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		case bytes.EqualFold(name, []byte("Mcp-Session-Id")):
			session = string(value)
		}
		if err != nil {
			return 0, "", err
		}
	}
}

// read appends n bytes to the body.
func (c *connection) read(n int) error {
	at := len(c.body)
	if cap(c.body) < at+n {
		c.body = append(make([]byte, 0, 2*(at+n)), c.body...)
	}
	c.body = c.body[:at+n]
	_, err := io.ReadFull(c.in, c.body[at:])
	return err
}

func (c *connection) chunks() error {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if err := c.read(int(n)); err != nil {
			return err
		}
		if _, err := c.in.Discard(2); err != nil || n == 0 {
			return err
		}
	}
}
