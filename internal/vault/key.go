package vault

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
)

const (
	keySize   = 32 // bytes
	keyIDSize = 8
)

// Key encrypts credentials. It prints as nothing that opens them.
type Key struct{ bytes *[keySize]byte }

// ParseKey reads 32 random bytes, as 64 hexadecimal digits or as base64. Its errors
// do not repeat the text.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	decoded, err := hex.DecodeString(text)
	if err != nil {
		plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
		decoded, err = base64.RawStdEncoding.Strict().DecodeString(plain)
	}
	if err != nil || len(decoded) != keySize {
		return Key{}, errors.New("a key is 32 random bytes, as 64 hexadecimal digits or in base64: openssl rand -hex 32 writes one")
	}
	first := decoded[0]
	same := true
	for _, b := range decoded {
		same = same && b == first
	}
	if same {
		return Key{}, errors.New("a key of 32 equal bytes is not random: openssl rand -hex 32 writes one")
	}
	return Key{(*[keySize]byte)(decoded)}, nil
}

// id tells keys apart and nothing about them.
func (k Key) id() string {
	h := hmac.New(sha256.New, k.bytes[:])
	h.Write([]byte("tenon credential key"))
	return string(h.Sum(nil)[:keyIDSize])
}
