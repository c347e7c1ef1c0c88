// Package sealed keeps what can be made again at a cost, such as responses and access
// tokens, in a store that replicas share: encrypted, under the secret that they share.
//
// It does not know what the values are. It implements tenon.Cache for package app, and
// stands beside the path of a call: who does not find a value there makes it.
//
// Rules of this package:
//
//   - Whoever can read the store learns how large values are and how long they live:
//     neither a value nor what it is the answer to. Whoever can write to it can take a
//     value away, and put none in its place.
//   - Nobody waits for a store that does not answer: after a failure it is not asked for
//     some seconds. A failure is no value, and no error.
package sealed

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon"
)

const (
	maxWait   = 100 * time.Millisecond // for values
	maxPut    = 250 * time.Millisecond
	pause     = 5 * time.Second // in which a store that failed is not asked
	maxValue  = 4 << 20         // bytes of a value
	packAbove = 1 << 10         // bytes from which a value is compressed

	plain  = 'p' // the first byte of what is encrypted
	packed = 'z' // DEFLATE (RFC 1951)
)

// Cache implements tenon.Cache.
type Cache struct {
	store  tenon.Store
	log    *slog.Logger
	names  []byte // key of the names of values
	values []byte // key of their keys

	failed atomic.Int64 // when the store failed, in nanoseconds of Unix time; 0: it did not
}

// New returns the values that who has secret keeps in s.
func New(s tenon.Store, secret []byte, log *slog.Logger) (*Cache, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Cache{store: s, log: log}
	var err error
	if c.names, err = hkdf.Key(sha256.New, secret, nil, "tenon names of shared values", sha256.Size); err != nil {
		return nil, err
	}
	c.values, err = hkdf.Key(sha256.New, secret, nil, "tenon shared values", sha256.Size)
	return c, err
}

// Get returns the values of keys; nil: there is none. ok is false if nobody knows.
func (c *Cache) Get(ctx context.Context, keys ...string) (values [][]byte, ok bool) {
	values = make([][]byte, len(keys))
	ok = c.ask(ctx, maxWait, func(ctx context.Context) error {
		names := make([]string, len(keys))
		for i := range keys {
			names[i] = c.name(keys[i])
		}
		texts, err := c.texts(ctx, names)
		for i, text := range texts {
			if text != nil {
				values[i] = c.open(names[i], text)
			}
		}
		return err
	})
	return values, ok
}

func (c *Cache) texts(ctx context.Context, names []string) (texts [][]byte, err error) {
	if many, ok := c.store.(tenon.Getter); ok && len(names) > 1 {
		texts, err = many.GetAll(ctx, names)
		if err == nil && len(texts) != len(names) {
			err = errors.New("the store returned another number of values than there are keys")
		}
		if err != nil {
			return nil, err
		}
		return texts, nil
	}
	texts = make([][]byte, len(names))
	for i, name := range names {
		text, ok, err := c.store.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			texts[i] = text
		}
	}
	return texts, nil
}

// Put keeps a value for a while, if the store takes it.
func (c *Cache) Put(ctx context.Context, key string, value []byte, life time.Duration) {
	name := c.name(key)
	if len(value) > maxValue || life <= 0 {
		return
	}
	text, err := c.seal(name, value)
	if err != nil {
		return
	}
	c.ask(ctx, maxPut, func(ctx context.Context) error { return c.store.Put(ctx, name, text, life) })
}

// Delete forgets a value.
func (c *Cache) Delete(ctx context.Context, key string) {
	c.ask(ctx, maxWait, func(ctx context.Context) error {
		_, _, err := c.store.GetAndDelete(ctx, c.name(key))
		return err
	})
}

// Claim reports whether the caller is the first of all replicas to claim key, until it
// is deleted or life is over; also if nobody knows.
func (c *Cache) Claim(ctx context.Context, key string, life time.Duration) (first bool) {
	ok := c.ask(ctx, maxWait, func(ctx context.Context) (err error) {
		first, err = c.store.PutIfAbsent(ctx, c.name(key), []byte{plain}, life)
		return err
	})
	return first || !ok
}

// ask asks the store unless it failed just now, and reports whether it answered. That
// the caller left is no failure, nor that the store is full.
func (c *Cache) ask(ctx context.Context, most time.Duration, do func(context.Context) error) bool {
	if at := c.failed.Load(); at != 0 && time.Since(time.Unix(0, at)) < pause {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := do(limited)
	switch {
	case err == nil:
		if c.failed.Swap(0) != 0 {
			c.log.Info("the store keeps shared values again")
		}
		return true
	case ctx.Err() != nil, errors.Is(err, tenon.ErrStoreFull):
		return false
	}
	if c.failed.Swap(time.Now().UnixNano()) == 0 {
		c.log.Warn("the store does not return shared values; responses and tokens are kept by each replica", "error", err)
	}
	return false
}

// name is where a value stands in the store: a digest, so that no key can be guessed.
func (c *Cache) name(key string) string { return "shared " + hex.EncodeToString(mac(c.names, key)) }

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text)) // a hash does not fail
	return h.Sum(nil)
}

// sealer encrypts the value of one name: each has a key of its own, so that no value can
// stand in another's place.
func (c *Cache) sealer(name string) (cipher.AEAD, error) {
	block, err := aes.NewCipher(mac(c.values, name))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (c *Cache) seal(name string, value []byte) ([]byte, error) {
	s, err := c.sealer(name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteByte(plain)
	if len(value) < packAbove {
		b.Write(value)
		return s.Seal(nil, nil, b.Bytes(), nil), nil //nolint:gosec // it makes the nonce itself
	}
	b.Reset()
	b.WriteByte(packed)
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(value); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return s.Seal(nil, nil, b.Bytes(), nil), nil //nolint:gosec // it makes the nonce itself
}

// open returns what was sealed; nil: it was not, or not with this secret.
func (c *Cache) open(name string, text []byte) []byte {
	s, err := c.sealer(name)
	if err != nil {
		return nil
	}
	b, err := s.Open(nil, nil, text, nil)
	if err != nil || len(b) == 0 {
		return nil
	}
	if b[0] != packed {
		return append([]byte{}, b[1:]...) // one of no bytes is not nil
	}
	value, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b[1:])), maxValue+1))
	if err != nil || len(value) > maxValue {
		return nil
	}
	return value
}
