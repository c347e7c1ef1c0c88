package auth

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxVerified bounds the tokens that are remembered. Only good ones are, so that
// nobody without one can push out those of others.
const maxVerified = 4096

// verified remembers tokens whose signature holds by one set of keys, and ends with
// it: a key that the issuer takes back takes its tokens along.
type verified struct {
	mu      sync.Mutex
	callers map[[sha256.Size]byte]*Caller // by the token's sum
}

// find returns a caller of its own for a token that was verified before and has not
// expired since; nil: it has to be verified.
func (v *verified) find(sum [sha256.Size]byte) *Caller {
	v.mu.Lock()
	known := v.callers[sum]
	v.mu.Unlock()
	if known == nil || !time.Now().Before(known.Expires.Add(skew)) {
		return nil
	}
	caller := *known
	return &caller
}

func (v *verified) keep(sum [sha256.Size]byte, c *Caller) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.callers == nil {
		v.callers = map[[sha256.Size]byte]*Caller{}
	}
	if len(v.callers) >= maxVerified {
		clear(v.callers)
	}
	known := *c
	v.callers[sum] = &known
}
