// Package idempotency keeps the idempotency keys of requests whose outcome is not
// known, so that the same call, made again, sends the same key and a service that
// honours it acts once.
//
// It stands beside a source, which sends the keys and judges the responses. It does
// not know requests, tools or schemas: a call is its subject, its tool and its
// arguments. Where replicas share the store, each finds the keys of the others.
package idempotency

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
)

// Life is how long a key is kept after the last request whose outcome is not known.
const Life = 10 * time.Minute

// maxPending is how many keys are kept for equal calls of one subject, which are as
// many intended effects.
const maxPending = 8

// ErrPending says that an equal call with a kept key is under way. Whether that key is
// still needed is known when it ends.
var ErrPending = errors.New("an equal call, whose outcome was not known, is being made again")

// Keys keeps keys in a store. It is safe for concurrent use.
type Keys struct {
	store tenon.Store
	claim time.Duration
}

// New returns the keys in a store, of which no call uses one for longer than claim.
func New(store tenon.Store, claim time.Duration) *Keys {
	return &Keys{store: store, claim: claim}
}

// Key is the idempotency key of one call.
type Key struct {
	Value string // a UUID
	Again bool   // an equal call has sent it, and its outcome is not known

	call string // name of the call in the store
	slot string // where the key is kept; empty: nowhere
}

// NewKey returns a key that no call has. Its value is a UUID of version 4 (RFC 9562
// §5.4), as draft-ietf-httpapi-idempotency-key-header §2.2 recommends.
func NewKey() Key {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return Key{Value: fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])}
}

// Take returns the key of a call: one that an equal call left, or a new one. Either
// Keep or Drop must follow. The error is [ErrPending] or that of the store.
func (k *Keys) Take(ctx context.Context, c *tenon.Call) (Key, error) {
	fresh := NewKey()
	fresh.call = nameOf(c)
	if _, some, err := k.store.Get(ctx, fresh.call); err != nil || !some {
		return fresh, err
	}
	var pending error
	for i := range maxPending {
		slot := slotOf(fresh.call, i)
		if _, there, err := k.store.Get(ctx, slot); err != nil || !there {
			if err != nil {
				return Key{}, err
			}
			continue
		}
		mine, err := k.store.PutIfAbsent(ctx, claimOf(slot), []byte("1"), k.claim)
		if err != nil {
			return Key{}, err
		}
		if !mine {
			pending = ErrPending
			continue
		}
		value, there, err := k.store.Get(ctx, slot) // the one who had it may have dropped it just now
		if err != nil {
			return Key{}, err
		}
		if there {
			return Key{Value: string(value), Again: true, call: fresh.call, slot: slot}, nil
		}
		if err := k.delete(ctx, claimOf(slot)); err != nil {
			return Key{}, err
		}
	}
	if pending != nil {
		return Key{}, pending
	}
	return fresh, nil
}

// Keep keeps the key of a call whose outcome is not known. The error is that of the
// store, tenon.ErrStoreFull also where too many equal calls have such an outcome; the
// key is then not kept, unless it was before.
func (k *Keys) Keep(ctx context.Context, key Key) error {
	if err := k.store.Put(ctx, key.call, []byte("1"), Life); err != nil {
		return err
	}
	if key.Again {
		if err := k.store.Put(ctx, key.slot, []byte(key.Value), Life); err != nil {
			return err
		}
		return k.delete(ctx, claimOf(key.slot))
	}
	for i := range maxPending {
		kept, err := k.store.PutIfAbsent(ctx, slotOf(key.call, i), []byte(key.Value), Life)
		if err != nil || kept {
			return err
		}
	}
	return fmt.Errorf("%d equal calls with an unknown outcome: %w", maxPending, tenon.ErrStoreFull)
}

// Drop forgets the key of a call whose outcome is known.
func (k *Keys) Drop(ctx context.Context, key Key) error {
	if !key.Again {
		return nil
	}
	if err := k.delete(ctx, key.slot); err != nil {
		return err
	}
	return k.delete(ctx, claimOf(key.slot))
}

func (k *Keys) delete(ctx context.Context, name string) error {
	_, _, err := k.store.GetAndDelete(ctx, name)
	return err
}

// nameOf is the same for calls of a subject that are equal: of the same tool, with
// arguments that are equal as JSON values.
func nameOf(c *tenon.Call) string {
	return "unknown " + reservedargs.Key(string(c.Subject), c.Tool, c.Args)
}

func slotOf(call string, i int) string { return call + " " + strconv.Itoa(i) }

func claimOf(slot string) string { return slot + " claim" }
