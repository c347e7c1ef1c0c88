package main

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"sync/atomic"
	"time"
)

// store is a Redis behind a proxy that counts round trips: what a replica writes at once
// and waits for.
type store struct {
	cmd   *exec.Cmd
	proxy net.Listener
	addr  string // of the proxy
	trips atomic.Int64
}

func startStore(folder string) (*store, error) {
	addr := freeAddr()
	_, port, _ := net.SplitHostPort(addr)
	s := &store{cmd: exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", folder, "--save", "")}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for i := 0; ; i++ {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			break
		} else if i == 200 {
			s.stop()
			return nil, fmt.Errorf("the store does not start: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	var err error
	if s.proxy, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		s.stop()
		return nil, err
	}
	s.addr = s.proxy.Addr().String()
	go func() {
		for {
			c, err := s.proxy.Accept()
			if err != nil {
				return
			}
			go s.pass(c, addr)
		}
	}()
	return s, nil
}

func (s *store) pass(c net.Conn, addr string) {
	defer c.Close()
	to, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer to.Close()
	go func() { _, _ = io.Copy(c, to) }()
	_, _ = io.Copy(to, counted{c, &s.trips})
}

// counted counts reads. A request of a few hundred bytes is one.
type counted struct {
	net.Conn

	n *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.n.Add(1)
	}
	return n, err
}

func (s *store) stop() {
	if s.proxy != nil {
		_ = s.proxy.Close()
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// freeAddr is an address that nobody had a moment ago.
func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().String()
}
