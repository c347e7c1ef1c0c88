package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// Bounds.
const (
	MaxValue   = 32 << 10 // bytes of a credential
	MaxPerUser = 100      // credentials of one user
	maxLabel   = 4 << 10  // bytes of a label's part
	maxRecord  = 64 << 10 // bytes of what is kept of one credential
)

// Errors of a Vault; others come from its Blobs.
var (
	ErrNone    = errors.New("there is no such credential")
	ErrDamaged = errors.New("what is kept is damaged, of somebody else, or encrypted with a key that is not configured")
	ErrFull    = fmt.Errorf("a user can store %d credentials; delete one first", MaxPerUser)
)

// Label says whose a credential is, and what it is for.
type Label struct {
	Issuer  string `json:"issuer"`  // who knows the user
	Subject string `json:"subject"` // the issuer's name of the user
	Source  string `json:"source"`
	Scheme  string `json:"scheme"` // of the source's description
	Origin  string `json:"origin"` // the only one that the credential may be sent to
}

// Credential is what a user stored.
type Credential struct {
	Label
	Value  Secret
	Stored time.Time
}

// Secret is text that no verb of fmt prints.
type Secret string

// String does not return the secret.
func (Secret) String() string { return "(secret)" }

// GoString does not return it either.
func (Secret) GoString() string { return "(secret)" }

// Blobs keep bytes by user and name, both of them hexadecimal digits. What was
// written is there completely or not at all. A missing one is an [fs.ErrNotExist].
// Replicas can share an implementation: a Vault keeps nothing itself.
type Blobs interface {
	Read(user, name string, limit int64) ([]byte, error)
	Write(user, name string, content []byte) error
	Remove(user, name string) error
	// List returns at most limit names.
	List(user string, limit int) ([]string, error)
}

// Vault encrypts what its Blobs keep with AES-256-GCM. It is safe for concurrent use
// if they are.
type Vault struct {
	blobs Blobs
	keys  []sealer
}

type sealer struct {
	id   string // 8 bytes
	aead cipher.AEAD
}

// New returns a Vault. The first key encrypts, and all decrypt, so that a key can be
// replaced: put the new one before the old one.
func New(b Blobs, keys ...Key) (*Vault, error) {
	if len(keys) == 0 {
		return nil, errors.New("there is no key")
	}
	v := &Vault{blobs: b}
	for _, k := range keys {
		block, err := aes.NewCipher(k.bytes[:])
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		id := k.id()
		if slices.ContainsFunc(v.keys, func(s sealer) bool { return s.id == id }) {
			return nil, errors.New("a key is given twice")
		}
		v.keys = append(v.keys, sealer{id, aead})
	}
	return v, nil
}

// magic begins every record, and names its format.
const magic = "tenon credential 1\n"

// record is what is encrypted.
type record struct {
	Label
	Value  string    `json:"value"`
	Stored time.Time `json:"stored"`
}

// Get returns a credential, or [ErrNone], or [ErrDamaged].
func (v *Vault) Get(l Label) (Credential, error) {
	c, err := v.read(l.user(), l.name())
	if err == nil && c.Label != l {
		err = ErrDamaged
	}
	return c, err
}

// Put stores a credential in place of one with the same label.
func (v *Vault) Put(l Label, value Secret) error {
	if err := l.check(); err != nil {
		return err
	}
	if value == "" || len(value) > MaxValue {
		return fmt.Errorf("a credential has 1 to %d bytes", MaxValue)
	}
	names, err := v.blobs.List(l.user(), MaxPerUser)
	if err != nil {
		return err
	}
	if len(names) >= MaxPerUser && !slices.Contains(names, l.name()) {
		return ErrFull
	}
	plain, err := json.Marshal(record{l, string(value), time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	k := v.keys[0]
	head := magic + k.id
	return v.blobs.Write(l.user(), l.name(), k.aead.Seal([]byte(head), nil, plain, bound(head, l.user(), l.name()))) //nolint:gosec // the AEAD makes its own random nonce
}

// List returns the credentials of a user without their values, in the order of
// their labels. What is damaged is left out.
func (v *Vault) List(issuer, subject string) ([]Credential, error) {
	user := Label{Issuer: issuer, Subject: subject}.user()
	names, err := v.blobs.List(user, MaxPerUser)
	if err != nil {
		return nil, err
	}
	var all []Credential
	for _, name := range names {
		c, err := v.read(user, name)
		if err != nil || c.Issuer != issuer || c.Subject != subject {
			continue
		}
		c.Value = ""
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Credential) int {
		return strings.Compare(a.Source+"\x00"+a.Scheme+"\x00"+a.Origin, b.Source+"\x00"+b.Scheme+"\x00"+b.Origin)
	})
	return all, nil
}

// Delete deletes a credential. One that is not there is no error.
func (v *Vault) Delete(l Label) error {
	if err := v.blobs.Remove(l.user(), l.name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (v *Vault) read(user, name string) (Credential, error) {
	sealed, err := v.blobs.Read(user, name, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return Credential{}, ErrNone
	}
	if err != nil {
		return Credential{}, err
	}
	return v.open(user, name, sealed)
}

// open decrypts what was kept under a name. What was not sealed for exactly this
// user and name does not open.
func (v *Vault) open(user, name string, sealed []byte) (Credential, error) {
	const head = len(magic) + keyIDSize
	if len(sealed) < head || len(sealed) > maxRecord || string(sealed[:len(magic)]) != magic {
		return Credential{}, ErrDamaged
	}
	for _, k := range v.keys {
		if k.id != string(sealed[len(magic):head]) {
			continue
		}
		plain, err := k.aead.Open(nil, nil, sealed[head:], bound(string(sealed[:head]), user, name))
		if err != nil {
			return Credential{}, ErrDamaged
		}
		var r record
		if json.Unmarshal(plain, &r) != nil || r.user() != user || r.name() != name {
			return Credential{}, ErrDamaged
		}
		return Credential{Label: r.Label, Value: Secret(r.Value), Stored: r.Stored}, nil
	}
	return Credential{}, ErrDamaged
}

// bound is what a record is bound to beside its key: format, key and the name, which
// comes from the whole label. So records cannot be swapped.
func bound(head, user, name string) []byte { return []byte(head + user + "/" + name) }

// check refuses labels that would not come back as they are.
func (l Label) check() error {
	for _, part := range []string{l.Issuer, l.Subject, l.Source, l.Scheme, l.Origin} {
		if part == "" || len(part) > maxLabel || strings.ToValidUTF8(part, "") != part {
			return errors.New("the label of a credential has an empty, an overlong or a malformed part")
		}
	}
	return nil
}

// Name names a credential among those of its user.
func (l Label) Name() string { return l.name() }

func (l Label) user() string { return digest(l.Issuer, l.Subject) }

func (l Label) name() string { return digest(l.Issuer, l.Subject, l.Source, l.Scheme, l.Origin) }

// digest is a sum of texts that no other texts have.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_ = binary.Write(h, binary.BigEndian, uint64(len(part))) // a hash does not fail
		_, _ = h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}
