package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/roll"
)

// joinReplicas enters the process in the roll of those that share its store and its
// secret: one with another secret is refused, what else differs is said.
func (a *App) joinReplicas(ctx context.Context) error {
	if a.env.Store == nil || a.config.Secret == "" || a.env.DryRun {
		return nil
	}
	secret, err := a.secret()
	if err != nil {
		return err
	}
	r, err := roll.Join(ctx, roll.Options{
		Store: a.env.Store, Log: a.env.Logger, Name: replicaName(), Version: Version(),
		Secret: derived(secret, "replicas"), Settings: a.config.digests(secret), Lists: a.listsOf(a.Gateway.Catalog()), //nolint:contextcheck // a digest of what nobody asks for
		Reread: a.reread, Tell: func() { a.Gateway.Notify(gateway.Event{}) }, Say: a.say,
	})
	if other, ok := errors.AsType[*roll.SecretError](err); ok {
		return invalid("secret", ": %v", other)
	}
	a.roll = r // before a reload that another replica causes
	r.Start(ctx)
	a.open = append([]io.Closer{r}, a.open...) // it leaves before the store is closed
	return err
}

// derived is a digest that only who has the secret can make.
func derived(secret []byte, text string) string {
	h := hmac.New(sha256.New, secret)
	_, _ = h.Write([]byte(text)) // a hash does not fail
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func replicaName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// listsOf returns what makes the digest of a catalog that is served, and of the tools
// behind it: those of search mode by what is searched, for nobody lists their schemas.
func (a *App) listsOf(c *gateway.Catalog) func() string {
	whole := a.tools
	return func() string {
		_, view := c.View(context.Background()) // the rules of the operator are in its name
		lists := c.Digest() + " " + view
		if len(whole.Tools()) != len(c.Tools()) {
			lists += " " + whole.Outline()
		}
		sum := sha256.Sum256([]byte(lists))
		return hex.EncodeToString(sum[:16])
	}
}

// swap puts a catalog in force. Clients hear of it at once, or when the replicas that
// share the store have it, too.
func (a *App) swap(c *gateway.Catalog) {
	if a.roll == nil {
		a.Gateway.Swap(c)
		return
	}
	a.Gateway.Replace(c)
	a.roll.Changed(a.listsOf(c))
}

// reread reads the descriptions because another replica lists something else now.
func (a *App) reread(ctx context.Context) {
	a.say("another replica lists something else now; descriptions are read again")
	a.rereadAll(ctx)
}

// rereadAll reads all descriptions side by side.
func (a *App) rereadAll(ctx context.Context) {
	a.building.Lock()
	sources := slices.Clone(a.sources)
	a.building.Unlock()
	reading := incident.NewGroup(a.env.Logger, "reading a description", len(sources))
	for _, s := range sources {
		reading.Go(func() { a.reload(ctx, s) }, nil)
	}
	reading.Wait()
}

// say tells the operator what concerns replicas.
func (a *App) say(text string) {
	a.building.Lock()
	defer a.building.Unlock()
	fmt.Fprintf(a.env.Stderr, "tenon: %s\n", text)
}
