package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
)

// maxStreams is how many requests one HTTP/2 connection can have under way.
const maxStreams = 100

// certificate is a certificate and its key in files, which are read again when
// they change.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	state   [2]os.FileInfo // of the files when they were read last
}

// readTLS reads the certificate that the config names; nil: HTTP without TLS.
func readTLS(c *Config, e Env) (*certificate, error) {
	switch {
	case c.TLSCert == "" && c.TLSKey == "":
		return nil, nil //nolint:nilnil // there is none
	case c.TLSCert == "" || c.TLSKey == "":
		return nil, invalid("tls-cert", " and --tls-key belong together")
	case c.HTTP == "":
		return nil, invalid("tls-cert", " is for --http ADDR")
	}
	t := &certificate{cert: c.TLSCert, key: c.TLSKey, log: e.Logger}
	if err := t.read(); err != nil {
		return nil, invalid("tls-cert", ": %v", err)
	}
	return t, nil
}

// read reads the files if they have changed. After an error the certificate of
// before stays, and the files are read again when they change once more: whoever
// writes them writes one after the other.
func (t *certificate) read() error {
	var now [2]os.FileInfo
	for i, name := range [...]string{t.cert, t.key} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		now[i] = info
	}
	if same(t.state[0], now[0]) && same(t.state[1], now[1]) {
		return nil
	}
	t.state = now
	pair, err := tls.LoadX509KeyPair(t.cert, t.key)
	if err != nil {
		return fmt.Errorf("%s with the key %s: %w", t.cert, t.key, err)
	}
	t.current = &pair
	return nil
}

func same(a, b os.FileInfo) bool {
	return a != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// replace takes the files and the certificate of another.
func (t *certificate) replace(by *certificate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cert, t.key, t.current, t.state = by.cert, by.key, by.current, by.state
}

// get returns the certificate for a handshake, which costs far more than to look
// whether the files have changed.
func (t *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.current
	switch err := t.read(); {
	case errors.Is(err, os.ErrNotExist): // it is being replaced
	case err != nil:
		t.log.Error("the certificate has changed and cannot be read; the one of before stays", "error", err)
	case t.current != before:
		t.log.Info("the certificate was read again", "file", t.cert)
	}
	return t.current, nil
}

// configure makes web serve TLS.
func (t *certificate) configure(web *http.Server) {
	web.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: t.get}
	web.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
}
