package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// accessFlags say who may call what an HTTP address serves.
type accessFlags struct {
	keys        []string // NAME=env:VAR or NAME=file:PATH
	behindProxy bool
	insecure    bool

	known []apiKey
}

// apiKey is a caller who is known by a key. The key itself is not kept.
type apiKey struct {
	caller string
	sum    [sha256.Size]byte
}

func (f *accessFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&f.keys, "api-key", nil, "serve HTTP only to callers with a key, in the header Authorization: Bearer KEY or X-API-Key: KEY: NAME=env:VAR or NAME=file:PATH; NAME is the caller (repeatable)")
	fs.BoolVar(&f.behindProxy, "behind-proxy", false, "listen beyond loopback without keys, because a proxy before it authenticates every caller")
	fs.BoolVar(&f.insecure, "insecure", false, "listen beyond loopback and serve everybody who reaches the address")
}

// check reads the keys. Beyond loopback somebody has to say who may call: keyed
// tells that another flag does.
func (f *accessFlags) check(e env, addr string, keyed bool) error {
	if addr == "" && (len(f.keys) > 0 || f.behindProxy || f.insecure) {
		return usagef("--api-key, --behind-proxy and --insecure are for --http ADDR")
	}
	f.known = nil
	for _, flag := range f.keys {
		k, err := readKey(e, flag)
		if err != nil {
			return err
		}
		for _, other := range f.known {
			if other.caller == k.caller {
				return usagef("--api-key %s is given twice: each caller has a name of its own", k.caller)
			}
			if other.sum == k.sum {
				return usagef("--api-key %s and --api-key %s are the same key: nobody could tell the callers apart", other.caller, k.caller)
			}
		}
		f.known = append(f.known, k)
	}
	if addr == "" || onLoopback(addr) || keyed || len(f.known) > 0 || f.behindProxy || f.insecure {
		return nil
	}
	return usagef(`--http %s can be reached by other machines, and nothing says who may call. Choose one:
  --api-key NAME=env:VAR  callers send the key that is in the variable VAR
  --behind-proxy          a proxy before it authenticates every caller
  --insecure              everybody who reaches the address may call`, addr)
}

// readKey reads NAME=env:VAR or NAME=file:PATH. Its errors do not repeat what
// stands behind the name: somebody may have written the key itself.
func readKey(e env, flag string) (apiKey, error) {
	name, where, _ := strings.Cut(flag, "=")
	kind, rest, _ := strings.Cut(where, ":")
	var key string
	var err error
	switch {
	case !strings.Contains(flag, "=") || name == "" || rest == "" || kind != "env" && kind != "file":
		return apiKey{}, usagef("--api-key wants NAME=env:VAR or NAME=file:PATH; the key itself does not belong there")
	case kind == "env":
		key, err = variableOf(e, rest)
	default:
		var text []byte
		if text, err = os.ReadFile(rest); err == nil { //nolint:gosec // the operator names the file
			key = string(text)
		}
	}
	if err != nil {
		return apiKey{}, usagef("--api-key %s: %v", name, err)
	}
	if key = strings.TrimSpace(key); key == "" {
		return apiKey{}, usagef("--api-key %s: the key is empty", name)
	}
	return apiKey{caller: name, sum: sha256.Sum256([]byte(key))}, nil
}

var errNoKey = errors.New("the key is missing or wrong: send it in the header Authorization, as Bearer KEY, or in X-API-Key")

// authenticate tells who sent r by its key. All keys are compared, each in
// constant time.
func (f *accessFlags) authenticate(r *http.Request) (caller string, err error) {
	given := r.Header.Get("X-Api-Key")
	if given == "" {
		scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if strings.EqualFold(scheme, "Bearer") {
			given = strings.TrimSpace(key)
		}
	}
	sum := sha256.Sum256([]byte(given))
	err = errNoKey
	for _, k := range f.known {
		if subtle.ConstantTimeCompare(k.sum[:], sum[:]) == 1 {
			caller, err = k.caller, nil
		}
	}
	return caller, err
}

// onLoopback reports whether listen opens addr on loopback, or not at all.
func onLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err != nil || host == "" || strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// callable is the address of a listener as somebody on this machine can call
// it: one that listens everywhere is called on loopback.
func callable(l net.Listener) string {
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return l.Addr().String()
	}
	return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
}
