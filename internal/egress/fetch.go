package egress

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// fetchTime is enough for the largest description over a slow line.
const fetchTime = 5 * time.Minute

// Fetch reads a description from a URL, of at most maxBody bytes. It returns
// the URL that answered in the end (without user information), for relative
// references, and the media type in lower case without parameters (empty: the
// answer named none that can be read).
//
// Plain http is spoken only to hosts that AllowHosts names: who sits on the
// way could change the description, and with it where credentials go.
//
// It takes at most five minutes, whatever ctx says.
func Fetch(ctx context.Context, c *http.Client, rawURL string, maxBody int64) ([]byte, *url.URL, string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	got, from, err := fetch(ctx, c, rawURL, maxBody, Version{})
	if err != nil {
		return nil, nil, "", err
	}
	final := *from
	final.User = nil
	media, _, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	if err != nil {
		media = ""
	}
	return got.Body, &final, media, nil
}

// Version is what an upstream says about the version of what it sent.
type Version struct{ etag, modified string }

// Refetch is Fetch for a description that was read before: it returns no bytes
// where the upstream says that v, from the answer before, is still what it
// has. The zero Version is no version.
func Refetch(ctx context.Context, c *http.Client, rawURL string, maxBody int64, v Version) ([]byte, Version, error) {
	got, _, err := fetch(ctx, c, rawURL, maxBody, v)
	switch {
	case err != nil:
		return nil, v, err
	case got.Status == http.StatusNotModified:
		return nil, v, nil
	}
	return got.Body, Version{got.Header.Get("ETag"), got.Header.Get("Last-Modified")}, nil
}

// fetch reads a description unless it is still v.
func fetch(ctx context.Context, c *http.Client, rawURL string, maxBody int64, v Version) (Response, *url.URL, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, http.NoBody)
	if err != nil {
		// The cause would print the whole URL.
		return Response{}, nil, &Error{Kind: Refused, Err: refuse("not a URL"), why: "the address of the description is not a URL"}
	}
	r.Header.Set("Accept", "application/json, application/yaml;q=0.9, */*;q=0.8")
	if v.etag != "" {
		r.Header.Set("If-None-Match", v.etag)
	}
	if v.modified != "" {
		r.Header.Set("If-Modified-Since", v.modified)
	}
	if err := checkPlain(c, r.URL, "a description"); err != nil {
		return Response{}, nil, newError(r, err, NotSent)
	}
	got, from, err := exchange(c, r, maxBody)
	if err != nil {
		return Response{}, nil, err
	}
	if err := checkPlain(c, from, "a description"); err != nil { // a redirect from an allowed host may lead there
		return Response{}, nil, newError(r, err, Answered)
	}
	if (got.Status < 200 || got.Status > 299) && (got.Status != http.StatusNotModified || v == Version{}) {
		return Response{}, nil, fmt.Errorf("%s: the upstream answered %d %s", whereOf(r), got.Status, http.StatusText(got.Status))
	}
	return got, from, nil
}

func checkPlain(c *http.Client, u *url.URL, what string) error {
	d, ok := c.Transport.(*door)
	if !ok || u.Scheme != "http" {
		return nil
	}
	n, err := strconv.ParseUint(portOf(u), 10, 16)
	if err != nil {
		return refuse("the URL's port is not a port")
	}
	port := uint16(n)
	if d.allow.names(u.Hostname(), port) {
		return nil
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		plain := netip.AddrPortFrom(ip.Unmap().WithZone(""), port)
		if d.allow.holds(plain) {
			return nil
		}
		if !public(plain.Addr()) {
			return &AddressError{Host: u.Hostname(), Address: plain}
		}
	}
	return refuse(what + " is read over plain http only from an allowed host; use https or --allow-host " + u.Host)
}
