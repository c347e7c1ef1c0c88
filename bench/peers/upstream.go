package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
)

// serveUpstream answers every GET with a fixed body, over bare connections: it
// shares a core with the client and must cost less than what is measured.
func serveUpstream() error {
	texts, err := bodies()
	if err != nil {
		return err
	}
	answers := map[string][]byte{}
	for name, body := range texts {
		head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
		answers[name] = append([]byte(head), body...)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s\n", l.Addr())
	return untilInputEnds(func() error {
		for {
			c, err := l.Accept()
			if err != nil {
				return err
			}
			go answerAll(c, answers)
		}
	})
}

// answerAll reads heads of requests, which have no body, and answers each.
func answerAll(c net.Conn, answers map[string][]byte) {
	defer c.Close()
	in := bufio.NewReaderSize(c, 16<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		path, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("GET /")), []byte{'?'})
		answer := answers[string(path)]
		if answer == nil {
			answer = []byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
		}
		for len(line) > 2 {
			if line, err = in.ReadSlice('\n'); err != nil {
				return
			}
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}
