package enrollment

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/internal/vault"
)

// Bounds.
const (
	Life       = 10 * time.Minute // of a question, of a login and of a session
	maxPerUser = 20               // open questions of one user
	maxOpen    = 10_000           // open questions of all
)

// Path is where the pages are, beside the endpoint of MCP.
const Path = "/credentials"

// ErrTooMany says that too many questions are open.
var ErrTooMany = errors.New("too many questions for credentials are open; answer one, or wait ten minutes")

// Login sends browsers to the issuer; [auth.Authenticator] does.
type Login interface {
	BeginLogin(ctx context.Context, redirect string) (page string, began auth.LoginAttempt, err error)
	FinishLogin(ctx context.Context, began auth.LoginAttempt, came url.Values) (*auth.Caller, error)
}

// Options make a Desk.
type Options struct {
	Resource string       // URL of this server as clients know it: its scheme and host are those of the pages
	Login    func() Login // that is in force
	Vault    *vault.Vault
	Logger   *slog.Logger
}

// Question is a credential that a call lacks.
type Question struct {
	vault.Label
	Service string // what the description calls itself
	Kind    string // of credential, for people
	Basic   bool   // it is a user name and a password, user:password
}

// Request is a question with a page. Done is closed when it was answered.
type Request struct {
	ID   string // is no secret of the user, and opens nothing by itself
	URL  string
	Done <-chan struct{}
}

// Desk has open questions in the memory of this process and serves their pages. It is
// safe for concurrent use.
type Desk struct {
	base  string // scheme and host
	login func() Login
	vault *vault.Vault
	log   *slog.Logger
	seal  sealer

	mu   sync.Mutex
	open map[string]*question // by id
}

type question struct {
	Question
	id      string
	expires time.Time
	done    chan struct{}
}

// New returns a Desk.
func New(o Options) (*Desk, error) {
	u, err := url.Parse(o.Resource)
	if err != nil || u.Host == "" {
		return nil, errors.New("the URL of this server is not known")
	}
	d := &Desk{base: u.Scheme + "://" + u.Host, login: o.Login, vault: o.Vault, log: o.Logger, open: map[string]*question{}}
	if d.seal, err = newSealer(); err != nil {
		return nil, err
	}
	return d, nil
}

// URL is the list of what a user has stored.
func (d *Desk) URL() string { return d.base + Path }

// Ask opens a question, or returns the one that is open for the same.
func (d *Desk) Ask(q Question) (Request, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, mine := time.Now(), 0
	for id, other := range d.open {
		switch {
		case !now.Before(other.expires):
			delete(d.open, id)
		case other.Label == q.Label && now.Before(other.expires.Add(-Life/2)):
			return d.request(other), nil
		case other.Issuer == q.Issuer && other.Subject == q.Subject:
			mine++
		}
	}
	if mine >= maxPerUser || len(d.open) >= maxOpen {
		return Request{}, ErrTooMany
	}
	one := &question{Question: q, id: rand.Text(), expires: now.Add(Life), done: make(chan struct{})}
	d.open[one.id] = one
	return d.request(one), nil
}

func (d *Desk) request(q *question) Request {
	return Request{ID: q.id, URL: d.base + Path + "/" + q.id, Done: q.done}
}

// find returns an open question; nil: there is none.
func (d *Desk) find(id string) *question {
	d.mu.Lock()
	defer d.mu.Unlock()
	if q := d.open[id]; q != nil && time.Now().Before(q.expires) {
		return q
	}
	return nil
}

// claim takes an open question, so that it is answered once; false: somebody else
// did, or it has expired.
func (d *Desk) claim(q *question) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[q.id] != q || !time.Now().Before(q.expires) {
		return false
	}
	delete(d.open, q.id)
	return true
}

// giveBack opens a question again whose answer could not be stored.
func (d *Desk) giveBack(q *question) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[q.id] = q
}
