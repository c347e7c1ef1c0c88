package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/server"
)

// azurePath is where Azure's host serves MCP, so that a client's configuration
// need not change.
const azurePath = "/runtime/webhooks/mcp"

// azureCaller is who sends Azure's key: it names nobody.
const azureCaller = "azure-key"

var errNoAzureKey = errors.New("the key is missing or wrong: send it in the header x-functions-key")

// azureDoor is the door as Azure's host has it.
type azureDoor struct {
	open  bool
	key   string // as on the command line: a variable of the environment
	inURL bool

	sum [sha256.Size]byte // of the key
}

func (d *azureDoor) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&d.open, "azure-paths", false, "serve MCP at "+azurePath+", too, where Azure Functions has it")
	fs.StringVar(&d.key, "azure-key", "", "serve HTTP only to callers with this key in the header x-functions-key, as Azure Functions does: ${VAR} from the environment")
	fs.BoolVar(&d.inURL, "azure-key-in-url", false, "take the key of --azure-key from ?code= as well; addresses stand in the logs of proxies")
}

// check reads the key and refuses Azure's path to everybody on a network: there
// it is never without a key.
func (d *azureDoor) check(e env, addr string) error {
	if (d.open || d.key != "" || d.inURL) && addr == "" {
		return usagef("--azure-paths, --azure-key and --azure-key-in-url are for --http ADDR")
	}
	if d.inURL && d.key == "" {
		return usagef("--azure-key-in-url says where the key may stand; --azure-key says which it is")
	}
	if d.open && d.key == "" && !onLoopback(addr) {
		return usagef("--azure-paths on %s needs --azure-key: only on loopback it may do without", addr)
	}
	if d.key == "" {
		return nil
	}
	header, err := parseHeaders([]string{"x-functions-key: " + d.key}, e.getenv)
	if err != nil {
		return usagef("--azure-key: the environment has no variable %s", d.key)
	}
	key := header.Get("x-functions-key")
	if key == "" {
		return usagef("--azure-key is empty")
	}
	d.sum = sha256.Sum256([]byte(key))
	return nil
}

// mount adds Azure's path.
func (d *azureDoor) mount(mux *http.ServeMux, s *server.Server) {
	if d.open {
		mux.Handle(azurePath, s)
	}
}

// opens reports whether r has the key.
func (d *azureDoor) opens(r *http.Request) bool {
	if d.key == "" {
		return false
	}
	given := r.Header.Get("X-Functions-Key")
	if given == "" && d.inURL {
		given = r.URL.Query().Get("code")
	}
	got := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(d.sum[:], got[:]) == 1
}
