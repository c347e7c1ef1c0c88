package evidence

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
)

// sketchSize is how many different arguments are told apart for certain.
const sketchSize = 16

// Sketch estimates how many different arguments there were: it has the smallest of
// their digests by a key that no ledger holds. Sketches of different keys are not
// comparable, each stands for itself.
type Sketch map[string][]uint64 // by the id of the key, ascending

// union returns a sketch of what both have seen.
func (s Sketch) union(o Sketch) Sketch {
	if len(o) == 0 {
		return s
	}
	all := Sketch{}
	maps.Copy(all, s)
	for key, digests := range o {
		all[key] = smallest(append(slices.Clip(all[key]), digests...))
	}
	for len(all) > maxArgumentKeys {
		delete(all, slices.Max(slices.Collect(maps.Keys(all)))) // the same ones in whatever order sketches are joined
	}
	return all
}

// maxArgumentKeys bounds the keys of a sketch: machines that count for one ledger.
const maxArgumentKeys = 8

// insert adds a digest to a sketch that nobody else has.
func (s Sketch) insert(key string, digest uint64) Sketch {
	known := s[key]
	if len(known) == sketchSize && digest >= known[sketchSize-1] || slices.Contains(known, digest) {
		return s
	}
	if s == nil {
		s = Sketch{}
	}
	s[key] = smallest(append(known, digest))
	return s
}

func smallest(digests []uint64) []uint64 {
	slices.Sort(digests)
	digests = slices.Compact(digests)
	return digests[:min(len(digests), sketchSize)]
}

// Distinct is about how many different arguments there were, and at least how many
// where there are up to 16: the most that one key has seen.
func (s Sketch) Distinct() (n int64) {
	for _, digests := range s {
		n = max(n, distinct(digests))
	}
	return n
}

// distinct is exact for short lists. In a full one the largest of the k smallest
// digests says how densely they lie.
func distinct(digests []uint64) int64 {
	k := len(digests)
	if k < sketchSize || digests[k-1] == 0 {
		return int64(k)
	}
	return int64(min(float64(k-1)/float64(digests[k-1])*(1<<64), maxCount))
}

// argumentKey digests arguments.
type argumentKey struct {
	id  string
	key []byte
}

func newArgumentKey(key []byte) argumentKey {
	sum := sha256.Sum256(append([]byte("tenon evidence key "), key...))
	return argumentKey{id: hexOf(sum[:4]), key: key}
}

// digest is one of canonical arguments.
func (k *argumentKey) digest(args []byte) uint64 {
	m := hmac.New(sha256.New, k.key)
	m.Write(args)
	return binary.BigEndian.Uint64(m.Sum(nil))
}
