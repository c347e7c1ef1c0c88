package app

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
)

// azurePath is where Azure's host serves MCP, so that a client's configuration
// need not change.
const azurePath = "/runtime/webhooks/mcp"

// azureCaller is who sends Azure's key: it names nobody.
const azureCaller = "azure-key"

var errNoAzureKey = errors.New("the key is missing or wrong: send it in the header x-functions-key")

// azureKey is the key that Azure's host would ask for.
type azureKey struct {
	set, inURL bool
	sum        [sha256.Size]byte
}

// read reads the key and refuses Azure's path to everybody on a network: there it
// is never without a key.
func (d *azureKey) read(c *Config, e Env) error {
	if (c.AzurePaths || c.AzureKey != "" || c.AzureKeyInURL) && c.HTTP == "" {
		return invalid("azure-paths", ", --azure-key and --azure-key-in-url are for --http ADDR")
	}
	if c.AzureKeyInURL && c.AzureKey == "" {
		return invalid("azure-key-in-url", " says where the key may stand; --azure-key says which it is")
	}
	if c.AzurePaths && c.AzureKey == "" && !OnLoopback(c.HTTP) {
		return invalid("azure-paths", " on %s needs --azure-key: only on loopback it may do without", c.HTTP)
	}
	if c.AzureKey == "" {
		return nil
	}
	header, err := ParseHeaders([]string{"x-functions-key: " + c.AzureKey}, e.Getenv)
	if err != nil {
		return invalid("azure-key", ": the environment has no variable %s", c.AzureKey)
	}
	key := header.Get("x-functions-key")
	if key == "" {
		return invalid("azure-key", " is empty")
	}
	d.set, d.inURL, d.sum = true, c.AzureKeyInURL, sha256.Sum256([]byte(key))
	return nil
}

// opens reports whether r has the key.
func (d *azureKey) opens(r *http.Request) bool {
	if !d.set {
		return false
	}
	given := r.Header.Get("X-Functions-Key")
	if given == "" && d.inURL {
		given = r.URL.Query().Get("code")
	}
	got := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(d.sum[:], got[:]) == 1
}
