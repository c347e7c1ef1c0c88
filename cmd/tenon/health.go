package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
)

// healthURL is where health asks without URL.
const healthURL = "http://127.0.0.1:8080"

// healthCommand asks a server how it is. It reads no config, so that an image can
// call it often.
func healthCommand(e env) *cobra.Command {
	var ready bool
	var timeout time.Duration
	var ca, serverName string
	cmd := &cobra.Command{
		Use:   "health [URL]",
		Short: "Ask a server whether it lives, or is ready for calls",
		Long: `Ask a server at its /healthz whether it lives, or with --ready at its /readyz
whether it takes calls; a server that shuts down lives and is not ready. URL is
its address, with or without /mcp (default: ` + healthURL + `). No key is needed.

Exit 0: it does. Exit 1: it does not, or does not answer in time. Exit 2: the
command line is wrong.`,
		Example: `  tenon health
  tenon health --ready --timeout 2s https://mcp.example.com/mcp
  tenon health --ca ca.pem --server-name mcp.example.com https://127.0.0.1:8443`,
		Args: atMostOne("health asks one URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			address := healthURL
			if len(args) == 1 {
				address = args[0]
			}
			u, err := probe(address, ready)
			if err != nil {
				return err
			}
			if timeout <= 0 {
				return usagef("--timeout is a time of more than 0s, such as 5s, not %v", timeout)
			}
			roots, err := rootsOf(ca)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			return e.askHealth(ctx, u, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: serverName})
		},
	}
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether it is ready for calls")
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "time for the whole answer")
	cmd.Flags().StringVar(&ca, "ca", "", "PEM file of the certificate authority of the server (default: the system's)")
	cmd.Flags().StringVar(&serverName, "server-name", "", "name in the certificate of the server (default: the host of URL)")
	return cmd
}

// probe is the address to ask. A path before /mcp is kept: a proxy may have put it there.
func probe(address string, ready bool) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", usagef("health wants an http or https URL such as %s", healthURL)
	}
	path := "/healthz"
	if ready {
		path = "/readyz"
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/mcp") + path
	return u.String(), nil
}

// rootsOf reads the authorities of a PEM file; nil: those of the system.
func rootsOf(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // those of the system
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, &tenon.Error{Code: tenon.CodeUsage, Message: "--ca " + file + " cannot be read", Err: err}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, usagef("--ca %s has no certificate in PEM", file)
	}
	return pool, nil
}

// askHealth succeeds where the answer is 200. Proxies of the environment and
// redirects are not followed: they would answer for somebody else.
func (e env) askHealth(ctx context.Context, address string, secure *tls.Config) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return usagef("%v", err)
	}
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: secure, DisableKeepAlives: true, MaxResponseHeaderBytes: 16 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(r)
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%s did not answer in time", address)
	case err == nil:
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			_, err = fmt.Fprintln(e.out, "ok")
			return err
		}
		err = fmt.Errorf("%s answered %s", address, cmp.Or(http.StatusText(answer.StatusCode), answer.Status))
	}
	return err
}
