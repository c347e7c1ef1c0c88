package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// storeProxy is a proxy before the store. What passes is counted; while it is cut,
// connections break and nobody gets one.
type storeProxy struct {
	listener net.Listener
	to       string

	mu   sync.Mutex
	cut  bool
	open map[net.Conn]bool
}

func newStoreProxy(to string) (*storeProxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &storeProxy{listener: l, to: to, open: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(c)
		}
	}()
	return p, nil
}

func (p *storeProxy) addr() string { return p.listener.Addr().String() }

// keep remembers a connection, unless none may be open.
func (p *storeProxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.cut {
		p.open[c] = true
	}
	return !p.cut
}

func (p *storeProxy) end(c net.Conn) {
	p.mu.Lock()
	delete(p.open, c)
	p.mu.Unlock()
	_ = c.Close()
}

func (p *storeProxy) pass(c net.Conn) {
	defer p.end(c)
	if !p.keep(c) {
		return
	}
	to, err := net.DialTimeout("tcp", p.to, time.Second)
	if err != nil {
		return
	}
	defer p.end(to)
	if !p.keep(to) {
		return
	}
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{c, to}, {to, c}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			done <- struct{}{}
		}()
	}
	<-done
}

// set cuts the store off, or lets it be reached again.
func (p *storeProxy) set(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	if cut {
		for c := range p.open {
			_ = c.Close()
		}
	}
}

// fail lets things fail until ctx ends, about when lasts is over.
func (w *world) fail(ctx context.Context, lasts time.Duration) {
	type event struct {
		at time.Duration
		do func()
	}
	const cutFor = 10 * time.Second
	events := []event{
		{lasts / 4, w.restartStore},
		{lasts / 2, func() { w.away(true) }},
		{lasts/2 + cutFor, func() { w.away(false) }},
		{lasts * 4 / 5, w.restartStore},
	}
	for i := 0; time.Duration(i+1)*5*time.Second < lasts-3*time.Second; i++ {
		events = append(events, event{time.Duration(i+1) * 5 * time.Second, func() { w.restartReplica(ctx, i%killed) }})
	}
	for at := 3 * time.Second; at < lasts; at += 7 * time.Second { // cursors outlive it
		events = append(events, event{at, w.reload})
	}
	began, thirds := time.Now(), 0
	ticks := time.NewTicker(200 * time.Millisecond)
	defer ticks.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		now := time.Since(began)
		for i := range events {
			if e := &events[i]; e.do != nil && now >= e.at {
				go e.do()
				e.do = nil
			}
		}
		w.sampleMemory(now, lasts)
		if third := int(now * 9 / lasts); third > thirds {
			thirds = third
			fmt.Printf("%4.0fs of %.0fs: %s\n", now.Seconds(), lasts.Seconds(), w.progress())
		}
	}
}
