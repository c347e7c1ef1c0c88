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

// fetchTime is enough for the largest description over a slow connection.
const fetchTime = 5 * time.Minute

// Fetch reads a description of at most maxBody bytes from a URL. It returns the
// final URL without user information, for relative references, and the media
// type in lower case without parameters, or "" if the response has no valid
// one.
//
// Plain http is used only with hosts in AllowHosts: an attacker in the network
// could change the description, and with it the destination of credentials.
//
// It takes at most five minutes, even if ctx allows more.
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

// Version is the validator of a response.
type Version struct{ etag, modified string }

// Refetch is Fetch for a description that was read before: it returns no bytes
// if the upstream says that v, from the last response, is current. The zero
// Version matches nothing.
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

// fetch reads a description unless v is current.
func fetch(ctx context.Context, c *http.Client, rawURL string, maxBody int64, v Version) (Response, *url.URL, error) {
	r, err := http.NewRequestWithContext(ofDescription(ctx), http.MethodGet, rawURL, http.NoBody)
	if err != nil {
		// The cause would print the whole URL.
		return Response{}, nil, &Error{Kind: Forbidden, Err: forbid("not a URL"), reason: "the location of the description is not a URL"}
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
	got, from, err := exchange(c, r, maxBody, 0)
	if err != nil {
		return Response{}, nil, err
	}
	if err := checkPlain(c, from, "a description"); err != nil { // a redirect from an allowed host may lead to plain http
		return Response{}, nil, newError(r, err, Responded)
	}
	if (got.Status < 200 || got.Status > 299) && (got.Status != http.StatusNotModified || v == Version{}) {
		return Response{}, nil, fmt.Errorf("%s: the upstream responded %d %s", requestText(r), got.Status, http.StatusText(got.Status))
	}
	return got, from, nil
}

func checkPlain(c *http.Client, u *url.URL, what string) error {
	d, ok := c.Transport.(*transport)
	if !ok || u.Scheme != "http" {
		return nil
	}
	n, err := strconv.ParseUint(portOf(u), 10, 16)
	if err != nil {
		return forbid("the URL's port is not a port")
	}
	port := uint16(n)
	if d.allow.hasHost(u.Hostname(), port) {
		return nil
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		plain := netip.AddrPortFrom(ip.Unmap().WithZone(""), port)
		if d.allow.hasAddress(plain) {
			return nil
		}
		if !public(plain.Addr()) {
			return &AddressError{Host: u.Hostname(), Address: plain}
		}
	}
	return forbid(what + " is read over plain http only from an allowed host; use https or --allow-private-host " + u.Host)
}
