package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Key is an API key as a server keeps it.
type Key struct {
	Name string // identifies the caller
	Sum  [sha256.Size]byte
}

// NewKey returns the key of a caller.
func NewKey(name, key string) Key { return Key{Name: name, Sum: sha256.Sum256([]byte(key))} }

// ParseKey reads the SHA-256 sum of a key, 64 hexadecimal digits. A sum does not
// protect a key that can be guessed: keys are random, of 128 bits or more.
func ParseKey(name, sum string) (Key, error) {
	k := Key{Name: name}
	n, err := hex.Decode(k.Sum[:], []byte(sum[:min(len(sum), 2*len(k.Sum))]))
	if err != nil || n != len(k.Sum) || len(sum) != 2*n {
		return Key{}, errors.New("a SHA-256 sum has 64 hexadecimal digits")
	}
	return k, nil
}

// checkKeys refuses keys that do not tell their callers apart.
func checkKeys(all []Key) error {
	names, sums := map[string]bool{}, map[[sha256.Size]byte]string{}
	for _, k := range all {
		if k.Name == "" || strings.ContainsFunc(k.Name, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return fmt.Errorf("the name %q of an API key is empty or has a space in it", k.Name)
		}
		if names[k.Name] {
			return fmt.Errorf("%s is given twice: each caller has a name of its own", k.Name)
		}
		if other := sums[k.Sum]; other != "" {
			return fmt.Errorf("%s and %s are the same key: nobody could tell the callers apart", other, k.Name)
		}
		names[k.Name], sums[k.Sum] = true, k.Name
	}
	return nil
}

// holder finds the caller of a key. All keys are compared, each in constant time.
func holder(all []Key, given string) *Caller {
	sum := sha256.Sum256([]byte(given))
	var found *Caller
	for i := range all {
		if subtle.ConstantTimeCompare(all[i].Sum[:], sum[:]) == 1 {
			found = &Caller{Key: all[i].Name}
		}
	}
	return found
}
