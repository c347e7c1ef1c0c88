package app

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// issuerTime bounds how long a check waits for the issuer.
const issuerTime = 10 * time.Second

// CheckOutside checks what a server only notices while it serves: whether the
// certificate is valid today, and whether the audit log can be written. Nothing is left
// behind.
func (a *App) CheckOutside() error {
	c := a.config
	if err := a.tls.valid(time.Now()); err != nil {
		return c.located(invalid("tls-cert", " %s: %v", c.TLSCert, err))
	}
	if err := writable(c.Audit); err != nil {
		return c.located(invalid("audit", " %s cannot be written: %v", c.Audit, err))
	}
	return nil
}

// CheckIssuer asks the issuer for what is needed to let callers in; nil: it answers, or
// there is none. A server starts without it and asks again.
func (a *App) CheckIssuer(ctx context.Context) error {
	if a.config.OAuthIssuer == "" {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, issuerTime)
	defer cancel()
	err := a.access.Load().callers.Prepare(limited)
	if limited.Err() != nil && ctx.Err() == nil {
		err = errors.New("the issuer did not answer within " + issuerTime.String())
	}
	return err
}

// UnservedResource is the host of oauth-resource if requests for it are refused: no
// allowed-host names it. Empty: they are served, or a proxy may send another.
func (c *Config) UnservedResource() string {
	u, err := url.Parse(c.OAuthResource)
	if c.OAuthResource == "" || err != nil || c.BehindProxy {
		return ""
	}
	host := u.Hostname()
	if net.ParseIP(host) != nil || strings.EqualFold(host, "localhost") && OnLoopback(c.HTTP) ||
		slices.ContainsFunc(c.AllowedHosts, func(h string) bool { return h == "*" || strings.EqualFold(h, host) }) {
		return ""
	}
	return host
}

// valid reports what is wrong with the time of a certificate; nil: it is valid, or
// there is none.
func (t *certificate) valid(now time.Time) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	leaf := t.current.Leaf
	if leaf == nil {
		var err error
		if leaf, err = x509.ParseCertificate(t.current.Certificate[0]); err != nil {
			return err
		}
	}
	switch {
	case now.After(leaf.NotAfter):
		return errors.New("the certificate has expired on " + leaf.NotAfter.Format(time.DateOnly))
	case now.Before(leaf.NotBefore):
		return errors.New("the certificate is valid from " + leaf.NotBefore.Format(time.DateOnly) + " on only")
	}
	return nil
}

// writable reports why the file of an audit log could not be written.
func writable(name string) error {
	if name == "" || name == "-" || name == auditOTLP {
		return nil
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular() && !info.IsDir():
		return nil // opening a pipe would wait for its reader
	case err == nil:
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0) //nolint:gosec // the operator names the file
		if err != nil {
			return err
		}
		return f.Close()
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".tenon-check-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
