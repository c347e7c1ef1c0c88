package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/go-jose/go-jose/v4/json"
)

// Shared keeps what can be made again for all replicas, encrypted: see tenon.Cache.
type Shared interface {
	Get(ctx context.Context, keys ...string) (values [][]byte, ok bool)
	Put(ctx context.Context, key string, value []byte, life time.Duration)
	Delete(ctx context.Context, key string)
}

// Replicas exchange a caller's token once for all of them. What is shared ends when it
// would end here, so that a caller whose token was revoked has what was made of it for
// no longer than at one server. Answers that say no are not shared, nor is who a caller
// is: that nobody but the issuer says.

// sharedGrant is a token that another replica was given.
type sharedGrant struct {
	Token string    `json:"token"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`
}

// sharedKey has the caller's token, which stands for issuer and subject, the audience and
// the scopes in its sum.
func (x *exchanger) sharedKey(of sum) string {
	return "exchange " + strconv.Quote(x.issuer.url) + " " + strconv.Quote(x.client.ClientID) + " " + hex.EncodeToString(of[:])
}

// endedKey is of a caller's token that its issuer takes back.
func (x *exchanger) endedKey(of sum) string {
	return "ended " + strconv.Quote(x.issuer.url) + " " + hex.EncodeToString(of[:])
}

// fromOthers returns the token that another replica was given; ended says that one has
// heard that the caller's own is taken back.
func (x *exchanger) fromOthers(ctx context.Context, c *Caller, of sum) (got *granted, until time.Time, ended bool) {
	if x.shared == nil {
		return nil, time.Time{}, false
	}
	values, ok := x.shared.Get(ctx, x.sharedKey(of), x.endedKey(sha256.Sum256([]byte(c.bearer.token))))
	var s *sharedGrant
	switch {
	case !ok:
		return nil, time.Time{}, false
	case values[1] != nil:
		return nil, time.Time{}, true
	case json.Unmarshal(values[0], &s) != nil || s == nil || s.Token == "" || !time.Now().Before(s.Until):
		return nil, time.Time{}, false
	}
	return &granted{secret{s.Token}, s.At}, s.Until, false
}

// tellEnded tells other replicas of a caller's token that its issuer takes back.
func (x *exchanger) tellEnded(ctx context.Context, of sum, until time.Time) {
	if x.shared != nil {
		x.shared.Put(ctx, x.endedKey(of), []byte("ended"), time.Until(until))
	}
}

func (x *exchanger) forOthers(ctx context.Context, of sum, got *granted, until time.Time) {
	if x.shared == nil {
		return
	}
	text, err := json.Marshal(sharedGrant{Token: got.text, At: got.at, Until: until})
	if err == nil {
		x.shared.Put(ctx, x.sharedKey(of), text, time.Until(until))
	}
}

// forget takes a token that its service refused from the store, if it is still that one.
func (x *exchanger) forget(of sum, refused *granted) {
	if x.shared == nil {
		return
	}
	ctx := context.Background()
	var s *sharedGrant
	values, ok := x.shared.Get(ctx, x.sharedKey(of))
	if ok && json.Unmarshal(values[0], &s) == nil && s != nil && s.Token == refused.text {
		x.shared.Delete(ctx, x.sharedKey(of))
	}
}
