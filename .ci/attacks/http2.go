package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Types and flags of frames: RFC 9113, section 6.
const (
	frameData, frameHeaders, frameReset, frameSettings, framePush, framePing, frameAway, frameContinued = 0, 1, 3, 4, 5, 6, 7, 9

	endStream, endHeaders = 1, 4
)

// frame is one frame on the wire.
func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

// ok are the headers of an answer that is JSON: ":status: 200" by its index, and
// a literal content-type.
var ok = append([]byte{0x88, 0x5f, 16}, "application/json"...) //nolint:gochecknoglobals // never written

// hostile says what an upstream sends once a request came on a stream.
var hostile = map[string]func(w io.Writer, stream uint32){ //nolint:gochecknoglobals // a table
	"fine": func(w io.Writer, stream uint32) {
		send(w, frame(frameHeaders, endHeaders, stream, ok), frame(frameData, endStream, stream, []byte(`{"items":[]}`)))
	},
	"refused": func(w io.Writer, stream uint32) { send(w, frame(frameReset, 0, stream, []byte{0, 0, 0, 7})) },
	"reset in the body": func(w io.Writer, stream uint32) {
		send(w, frame(frameHeaders, endHeaders, stream, ok), frame(frameData, 0, stream, []byte(`{"items":[`)), frame(frameReset, 0, stream, []byte{0, 0, 0, 2}))
	},
	"no error in the body": func(w io.Writer, stream uint32) {
		send(w, frame(frameHeaders, endHeaders, stream, ok), frame(frameData, 0, stream, []byte(`{"items":[`)), frame(frameReset, 0, stream, []byte{0, 0, 0, 0}))
	},
	"away at once": func(w io.Writer, _ uint32) { send(w, frame(frameAway, 0, 0, make([]byte, 8))) },
	"away in the body": func(w io.Writer, stream uint32) {
		send(w, frame(frameHeaders, endHeaders, stream, ok), frame(frameData, 0, stream, []byte(`{"items":[`)), frame(frameAway, 0, 0, make([]byte, 8)))
		if c, ok := w.(io.Closer); ok {
			_ = c.Close()
		}
	},
	"headers without end": func(w io.Writer, stream uint32) {
		send(w, frame(frameHeaders, 0, stream, ok))
		field := append([]byte{0x00, 5}, "x-big"...)
		field = append(append(field, 0x7f, 0x81, 0x7e), bytes.Repeat([]byte("x"), 127+16129)...) // a literal of 16,256 bytes
		for range 100_000 {
			if !send(w, frame(frameContinued, 0, stream, field[:min(len(field), 16384)])) {
				return
			}
		}
	},
	"settings without end": func(w io.Writer, _ uint32) {
		for range 10_000_000 {
			if !send(w, bytes.Repeat(frame(frameSettings, 0, 0, []byte{0, 3, 0, 0, 0, 100}), 100)) {
				return
			}
		}
	},
	"pings without end": func(w io.Writer, _ uint32) {
		for range 10_000_000 {
			if !send(w, bytes.Repeat(frame(framePing, 0, 0, make([]byte, 8)), 100)) {
				return
			}
		}
	},
	"empty data without end": func(w io.Writer, stream uint32) {
		send(w, frame(frameHeaders, endHeaders, stream, ok))
		for range 10_000_000 {
			if !send(w, bytes.Repeat(frame(frameData, 0, stream, nil), 100)) {
				return
			}
		}
	},
	"pushed": func(w io.Writer, stream uint32) {
		send(w, frame(framePush, endHeaders, stream, append([]byte{0, 0, 0, 2}, ok...)))
	},
	"early answers": func(w io.Writer, stream uint32) {
		for range 100_000 { // interim answers, 103
			if !send(w, frame(frameHeaders, endHeaders, stream, append([]byte{0x08, 3}, "103"...))) {
				return
			}
		}
	},
	"nonsense": func(w io.Writer, stream uint32) {
		send(w, frame(frameHeaders, endHeaders, stream, []byte{0xff, 0xff, 0xff, 0xff, 0xff}))
	},
	"long frame": func(w io.Writer, stream uint32) {
		send(w, frame(frameHeaders, endHeaders, stream, ok), frame(frameData, 0, stream, make([]byte, 1<<23)))
	},
}

func send(w io.Writer, frames ...[]byte) bool {
	_, err := w.Write(bytes.Join(frames, nil))
	return err == nil
}

// http2Upstreams are servers that speak HTTP/2 and mean no good. Each call ends
// in its time with an error of the tool, a little memory, and leaves the others
// alone.
func http2Upstreams(ctx context.Context, tenon string) (string, error) {
	cert, authority, err := certificate()
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "attacks")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "ca.pem")
	if err := os.WriteFile(file, authority, 0o600); err != nil {
		return "", err
	}
	var slowest time.Duration
	var peak int64
	for name, misbehave := range hostile {
		took, memory, err := http2Upstream(ctx, tenon, file, cert, name, misbehave)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		slowest, peak = max(slowest, took), max(peak, memory)
	}
	return fmt.Sprintf("%d kinds, the longest call took %v, peak %d MB", len(hostile), slowest.Round(100*time.Millisecond), peak), nil
}

func http2Upstream(ctx context.Context, tenon, ca string, cert tls.Certificate, name string, misbehave func(io.Writer, uint32)) (took time.Duration, memory int64, err error) {
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go speak(c, misbehave)
		}
	}()
	t, err := serve(ctx, tenon, document("https://"+l.Addr().String(), "attacked"), "--upstream-ca", ca, "--timeout", "3s", "--envelope", "native", "--policy", "enforce")
	if err != nil {
		return 0, 0, err
	}
	defer t.stop()
	began := time.Now()
	err = together(8, func(int) error {
		got, err := t.call(ctx, "attacked", "{}")
		switch {
		case err != nil:
			return err
		case name == "fine" && !strings.Contains(got, `{"items":[]}`), name != "fine" && !strings.Contains(got, `"isError":true`):
			return errors.New(got[:min(len(got), 400)])
		}
		return nil
	})
	took = time.Since(began)
	if err == nil && took > 8*time.Second {
		err = fmt.Errorf("calls of three seconds took %v", took)
	}
	if memory = t.megabytes("VmHWM"); err == nil && memory > 250 {
		err = fmt.Errorf("the peak is %d MB", memory)
	}
	if err == nil {
		_, err = t.post(ctx, message("tools/list", ""))
	}
	return took, memory, err
}

// speak answers every request on a connection in the same way.
func speak(c net.Conn, misbehave func(io.Writer, uint32)) {
	defer func() { _ = c.Close() }()
	if _, err := io.ReadFull(c, make([]byte, 24)); err != nil {
		return
	}
	send(c, frame(frameSettings, 0, 0, nil))
	for {
		var head [9]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, c, int64(head[0])<<16|int64(head[1])<<8|int64(head[2])); err != nil {
			return
		}
		switch head[3] {
		case frameSettings:
			if head[4]&1 == 0 {
				send(c, frame(frameSettings, 1, 0, nil))
			}
		case frameHeaders:
			go misbehave(c, binary.BigEndian.Uint32(head[5:]))
		}
	}
}

// certificate makes one for loopback, and the file of its authority.
func certificate() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}
