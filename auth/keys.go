package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
)

const (
	maxKeys = 64 // of one issuer
	maxTry  = 4  // keys that are tried for one token
)

// keysIn reads a JWK Set. A key that is not for signatures, not public, too short or
// not understood is no key (RFC 7517, 5).
func keysIn(text []byte) ([]jose.JSONWebKey, error) {
	var all struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &all); err != nil || all.Keys == nil {
		return nil, errors.New("they are not a JWK Set")
	}
	if len(all.Keys) > maxKeys {
		return nil, fmt.Errorf("they are more than %d", maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, raw := range all.Keys {
		var about struct {
			Operations []string `json:"key_ops"`
		}
		var k jose.JSONWebKey
		if json.Unmarshal(raw, &about) != nil || k.UnmarshalJSON(raw) != nil {
			continue
		}
		if k.Use != "" && k.Use != "sig" || about.Operations != nil && !slices.Contains(about.Operations, "verify") || family(&k) == "" {
			continue
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// family is the beginning of the algorithms that a key can verify; empty: none of
// those that are accepted here.
func family(k *jose.JSONWebKey) string {
	switch key := k.Key.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits >= 2048 && bits <= 8192 { // RFC 7518, 3.3; and nobody computes for long
			return "RS"
		}
	case *ecdsa.PublicKey:
		return fmt.Sprintf("ES%d", map[int]int{256: 256, 384: 384, 521: 512}[key.Curve.Params().BitSize])
	case ed25519.PublicKey:
		return "EdDSA"
	}
	return ""
}

// match returns the keys that may have signed a token with this header: by kid, and
// by the algorithm. Without a kid the first few that fit are tried.
func (p *published) match(h header) []jose.JSONWebKey {
	if p == nil {
		return nil
	}
	wanted := h.Algorithm
	if strings.HasPrefix(wanted, "PS") || strings.HasPrefix(wanted, "RS") {
		wanted = "RS"
	}
	var keys []jose.JSONWebKey
	for i := range p.keys {
		k := &p.keys[i]
		if h.KeyID != "" && k.KeyID != h.KeyID || k.Algorithm != "" && k.Algorithm != h.Algorithm || family(k) != wanted {
			continue
		}
		if keys = append(keys, *k); len(keys) == maxTry {
			break
		}
	}
	return keys
}
