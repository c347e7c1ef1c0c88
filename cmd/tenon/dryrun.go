package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
)

// dryRun stands in the place of the network: it prints requests and sends
// none. Values that the operator gave are not printed.
type dryRun struct {
	out    io.Writer
	hidden map[string]bool // headers with such a value, canonical names
	asked  bool
}

var errDryRun = errors.New("not sent: this is a dry run")

func newDryRun(out io.Writer, operator []string) *dryRun {
	d := &dryRun{out: out, hidden: map[string]bool{"Authorization": true, "Cookie": true}}
	for _, h := range operator {
		name, _, _ := strings.Cut(h, ":")
		d.hidden[http.CanonicalHeaderKey(strings.TrimSpace(name))] = true
	}
	return d
}

// showRequest makes a call whose request is printed. The description was read
// by then, so nothing else needs the network.
func (f *sources) showRequest(ctx context.Context, e env, w *app.App, c *tenon.Call) error {
	d := newDryRun(e.out, f.config.Defaults.Header)
	w.Intercept(d)
	res, err := w.Gateway.Call(ctx, c)
	switch {
	case err != nil:
		return err
	case d.asked:
		return nil
	case res.IsError:
		return (printer{out: e.out, err: e.err, envelope: envelopeOf(w, c.Tool)}).result(res)
	}
	fmt.Fprintln(e.err, "tenon: this tool sends no request")
	return nil
}

// envelopeOf is the envelope of a tool's answers.
func envelopeOf(w *app.App, name string) tenon.Envelope {
	if t := w.Gateway.Catalog().Find(name); t != nil {
		return t.Tool().Envelope
	}
	return ""
}

// RoundTrip prints r as it would be sent.
func (d *dryRun) RoundTrip(r *http.Request) (*http.Response, error) {
	d.asked = true
	fmt.Fprintf(d.out, "%s %s\n", r.Method, r.URL.Redacted())
	names := make([]string, 0, len(r.Header))
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value := strings.Join(r.Header[name], ", ")
		if d.hidden[name] {
			value = "(hidden)"
		}
		fmt.Fprintf(d.out, "%s: %s\n", name, value)
	}
	if r.Body != nil {
		defer r.Body.Close()
		body, err := io.ReadAll(io.LimitReader(r.Body, maxArguments))
		if err != nil {
			return nil, err
		}
		if len(body) > 0 {
			fmt.Fprintf(d.out, "\n%s\n", body)
		}
	}
	return nil, errDryRun
}
