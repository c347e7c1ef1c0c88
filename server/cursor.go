package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// cursorKey authenticates the cursors of one server. A cursor says where a
// page begins; it is bound to its listing, so that one from before a reload is
// refused rather than pointing at another tool.
type cursorKey [32]byte

const (
	cursorPlace = 4
	cursorMAC   = 16
)

func (k *cursorKey) seal(place int, listing uint64, list string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(place)) //nolint:gosec // a catalog has fewer tools
	return base64.RawURLEncoding.EncodeToString(append(b, k.mac(b, listing, list)...))
}

func (k *cursorKey) open(cursor string, listing uint64, list string) (place int, ok bool) {
	if base64.RawURLEncoding.DecodedLen(len(cursor)) != cursorPlace+cursorMAC {
		return 0, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) != cursorPlace+cursorMAC || !hmac.Equal(b[cursorPlace:], k.mac(b[:cursorPlace], listing, list)) {
		return 0, false
	}
	return int(binary.BigEndian.Uint32(b)), true
}

func (k *cursorKey) mac(place []byte, listing uint64, list string) []byte {
	h := hmac.New(sha256.New, k[:])
	h.Write(place)
	h.Write(binary.BigEndian.AppendUint64(nil, listing))
	h.Write([]byte(list))
	return h.Sum(nil)[:cursorMAC]
}
