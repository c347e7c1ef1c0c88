package app

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
)

// Access says who may call what an HTTP address serves.
type Access struct {
	known []apiKey
	azure azureKey
}

// apiKey is a caller who is known by a key. The key itself is not kept.
type apiKey struct {
	caller string
	sum    [sha256.Size]byte
}

// ReadAccess reads the keys of callers. Beyond loopback the config has to say who
// may call.
func ReadAccess(c *Config, e Env) (*Access, error) {
	a := &Access{}
	if err := a.azure.read(c, e); err != nil {
		return nil, err
	}
	if c.HTTP == "" && (len(c.APIKeys) > 0 || c.BehindProxy || c.Insecure) {
		return nil, invalid("api-key", ", --behind-proxy and --insecure are for --http ADDR")
	}
	for _, given := range c.APIKeys {
		k, err := readKey(e, given)
		if err != nil {
			return nil, err
		}
		for _, other := range a.known {
			if other.caller == k.caller {
				return nil, invalid("api-key", " %s is given twice: each caller has a name of its own", k.caller)
			}
			if other.sum == k.sum {
				return nil, invalid("api-key", " %s and --api-key %s are the same key: nobody could tell the callers apart", other.caller, k.caller)
			}
		}
		a.known = append(a.known, k)
	}
	if c.HTTP == "" || OnLoopback(c.HTTP) || c.AzureKey != "" || len(a.known) > 0 || c.BehindProxy || c.Insecure {
		return a, nil
	}
	return nil, invalid("http", ` %s can be reached by other machines, and nothing says who may call. Choose one:
  --api-key NAME=env:VAR  callers send the key that is in the variable VAR
  --behind-proxy          a proxy before it authenticates every caller
  --insecure              everybody who reaches the address may call`, c.HTTP)
}

// Keys reports whether callers need a key.
func (a *Access) Keys() bool { return len(a.known) > 0 || a.azure.set }

// Authenticate tells who sent r. Its error says how a key is sent.
func (a *Access) Authenticate(r *http.Request) (caller string, err error) {
	if a.azure.opens(r) {
		return azureCaller, nil
	}
	if len(a.known) == 0 {
		return "", errNoAzureKey
	}
	return a.authenticate(r)
}

// readKey reads NAME=env:VAR or NAME=file:PATH. Its errors do not repeat what
// stands behind the name: somebody may have written the key itself.
func readKey(e Env, flag string) (apiKey, error) {
	name, where, ok := strings.Cut(flag, "=")
	if !ok || name == "" || !namesSecret(where) {
		return apiKey{}, invalid("api-key", " wants NAME=env:VAR or NAME=file:PATH; the key itself does not belong there")
	}
	key, err := secretAt(e, where)
	if err != nil {
		return apiKey{}, invalid("api-key", " %s: %v", name, err)
	}
	return apiKey{caller: name, sum: sha256.Sum256(key)}, nil
}

var errNoKey = errors.New("the key is missing or wrong: send it in the header Authorization, as Bearer KEY, or in X-API-Key")

// authenticate tells who sent r by its key. All keys are compared, each in
// constant time.
func (a *Access) authenticate(r *http.Request) (caller string, err error) {
	given := r.Header.Get("X-Api-Key")
	if given == "" {
		scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if strings.EqualFold(scheme, "Bearer") {
			given = strings.TrimSpace(key)
		}
	}
	sum := sha256.Sum256([]byte(given))
	err = errNoKey
	for _, k := range a.known {
		if subtle.ConstantTimeCompare(k.sum[:], sum[:]) == 1 {
			caller, err = k.caller, nil
		}
	}
	return caller, err
}

// OnLoopback reports whether listen opens addr on loopback, or not at all.
func OnLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err != nil || host == "" || strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// CallableAddr is the address of a listener as somebody on this machine can call
// it: one that listens everywhere is called on loopback.
func CallableAddr(l net.Listener) string {
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return l.Addr().String()
	}
	return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
}

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

// secretAt reads the secret at env:VAR or file:PATH. Its errors do not repeat
// what was given: somebody may have written the secret itself.
func secretAt(e Env, where string) ([]byte, error) {
	if !namesSecret(where) {
		return nil, errors.New("it wants env:VAR or file:PATH; the secret itself does not belong there")
	}
	var text string
	var err error
	if name, ok := strings.CutPrefix(where, "env:"); ok {
		text, err = variableOf(e, name)
	} else {
		var b []byte
		b, err = os.ReadFile(strings.TrimPrefix(where, "file:"))
		text = string(b)
	}
	if text = strings.TrimSpace(text); err == nil && text == "" {
		err = errors.New("the key is empty")
	}
	return []byte(text), err
}

// namesSecret reports whether where says where a secret is: env:VAR or file:PATH.
func namesSecret(where string) bool {
	kind, rest, _ := strings.Cut(where, ":")
	return rest != "" && (kind == "env" || kind == "file")
}
