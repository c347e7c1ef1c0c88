package app

import (
	"context"
	"errors"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/memstore"
	"github.com/tenon-mcp/tenon/internal/sealed"
	"github.com/tenon-mcp/tenon/redis"
)

// minSecret is the least length of the secret that replicas share, in bytes.
const minSecret = 32

// openStore opens the store that replicas share, unless Env has one, and what they keep
// in it for each other.
func (a *App) openStore(ctx context.Context) error {
	err := a.connectStore(ctx)
	switch {
	case a.env.Store != nil:
		a.env.keys = a.env.Store
	case a.env.OnDemand:
		a.env.keys = noKeys{}
	default:
		a.env.keys = memstore.New(memstore.Options{MaxBytes: 16 << 20}) // some 30,000 keys
	}
	if err != nil || a.env.Store == nil || a.config.Secret == "" || a.env.DryRun {
		return err
	}
	secret, err := a.secret()
	if err != nil {
		return err
	}
	shared, err := sealed.New(a.env.Store, secret, a.env.Logger)
	if err == nil {
		a.env.shared = shared
	}
	return err
}

// noKeys keeps no idempotency key, for a command that ends with its calls: to repeat one
// is another command, which could not send the key again.
type noKeys struct{ tenon.Store }

// Get implements [tenon.Store].
func (noKeys) Get(context.Context, string) ([]byte, bool, error) { return nil, false, nil }

// Put implements [tenon.Store].
func (noKeys) Put(context.Context, string, []byte, time.Duration) error {
	return errors.New("the command ends with its call")
}

func (a *App) connectStore(ctx context.Context) error {
	c := a.config
	if c.Secret != "" && c.HTTP == "" {
		return invalid("secret", " is for --http ADDR")
	}
	if c.Store == "memory" || c.Store == "" || a.env.Store != nil {
		if c.StorePassword != "" {
			return invalid("store-password", " is that of --store, which is not given")
		}
		return nil
	}
	if c.Secret == "" {
		return invalid("store", " needs a secret that all replicas have: give --secret env:VAR or file:PATH, which recognizes what another one gave to a client")
	}
	o := redis.Options{}
	if c.StorePassword != "" {
		text, err := secretAt(a.env, c.StorePassword)
		if err != nil {
			return invalid("store-password", ": %v", err)
		}
		o.Password = string(text)
	}
	if a.env.DryRun {
		return nil
	}
	s, err := redis.Open(ctx, c.Store, o)
	if err != nil {
		return invalid("store", ": %v", err)
	}
	a.env.Store = s
	a.store = s
	if others, err := s.OtherVersions(ctx); err == nil && len(others) > 0 {
		a.say("WARNING: the store was used by replicas that keep things in another form (" + redis.Told(others) + "); nothing is shared with those")
	}
	return nil
}

// secret is what authenticates the texts that clients hand back; nil: one of the
// process's own.
func (a *App) secret() ([]byte, error) {
	if a.config.Secret == "" {
		return nil, nil
	}
	text, err := secretAt(a.env, a.config.Secret)
	if err == nil && len(text) < minSecret {
		err = errors.New("it has less than 32 characters; 'openssl rand -hex 32' makes one")
	}
	if err != nil {
		return nil, invalid("secret", ": %v", err)
	}
	return text, nil
}

func checkStore(value string) error {
	if value == "memory" {
		return nil
	}
	return redis.Check(value)
}
