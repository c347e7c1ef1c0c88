package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/server"
)

// azurePath is where Azure's host serves MCP, so that a client's configuration
// need not change.
const azurePath = "/runtime/webhooks/mcp"

// azureDoor is the door as Azure's host has it.
type azureDoor struct {
	open bool
	key  string // as on the command line: a variable of the environment
}

func (d *azureDoor) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&d.open, "azure-paths", false, "serve MCP at "+azurePath+", too, where Azure Functions has it")
	cmd.Flags().StringVar(&d.key, "azure-key", "", "demand this key at every MCP door, in the header x-functions-key or as ?code=, as Azure Functions does: ${VAR} from the environment")
}

// check reads the key and refuses Azure's path to everybody on a network: there
// it is never without a key.
func (d *azureDoor) check(e env, addr string) error {
	if d.key != "" {
		header, err := parseHeaders([]string{"x-functions-key: " + d.key}, e.getenv)
		if err != nil {
			return usagef("--azure-key: the environment has no variable %s", d.key)
		}
		if d.key = header.Get("x-functions-key"); d.key == "" {
			return usagef("--azure-key is empty")
		}
	}
	if (d.open || d.key != "") && addr == "" {
		return usagef("--azure-paths and --azure-key are for --http ADDR")
	}
	if d.open && d.key == "" && !onLoopback(addr) {
		return usagef("--azure-paths on %s needs --azure-key: only on loopback it may do without", addr)
	}
	return nil
}

// onLoopback reports whether listen opens addr on loopback, or not at all.
func onLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err != nil || host == "" || host == "localhost" || net.ParseIP(host).IsLoopback()
}

// mount adds Azure's path.
func (d *azureDoor) mount(mux *http.ServeMux, s *server.Server) {
	if d.open {
		mux.Handle(azurePath, s)
	}
}

// guard lets only those in who have the key. How the server is, is no secret.
func (d *azureDoor) guard(mux http.Handler) http.Handler {
	if d.key == "" {
		return mux
	}
	want := sha256.Sum256([]byte(d.key))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("X-Functions-Key")
		if given == "" {
			given = r.URL.Query().Get("code")
		}
		got := sha256.Sum256([]byte(given))
		open := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
		if !open && subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
			http.Error(w, "the key is missing or wrong: send it in the header x-functions-key", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
