package keyring

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tenon-mcp/tenon/internal/atomicfile"
)

// Places keeps credentials: in the keyring, or where there is none in files that
// only the user can read. A place is written as settings write it, keyring:NAME or
// file:PATH.
type Places struct {
	Dir string // of the files, absolute; empty: there are none
}

// Kind is where a credential is to be kept.
type Kind string

// The kinds. Auto is the keyring, and a file where there is none.
const (
	Auto      Kind = "auto"
	InKeyring Kind = "keyring"
	InFile    Kind = "file"
)

// Name joins the parts of a name, each of which becomes a legal name of a file.
func Name(parts ...string) string {
	legal := make([]string, len(parts))
	for i, p := range parts {
		legal[i] = legalName(p)
	}
	return strings.Join(legal, "/")
}

var (
	plainName = regexp.MustCompile(`^[A-Za-z0-9_@-][A-Za-z0-9_.@-]{0,63}$`)
	notPlain  = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
)

func legalName(s string) string {
	if plainName.MatchString(s) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	plain := notPlain.ReplaceAllString(s, "_")
	return plain[:min(len(plain), 40)] + "." + hex.EncodeToString(sum[:4])
}

// Save keeps a value by a name. why says why it is not in the keyring although kind
// is [Auto]; nil: it is there, or nobody asked for it.
func (p Places) Save(name, value string, kind Kind) (place string, why, err error) {
	if kind != InFile {
		err = Set(name, value)
		if err == nil {
			return "keyring:" + name, nil, nil
		}
		if kind == InKeyring || !errors.Is(err, ErrUnavailable) {
			return "", nil, err
		}
		why = err
	}
	if p.Dir == "" {
		return "", nil, errors.Join(errors.New("the environment has no HOME for a file"), why)
	}
	file := p.file(name)
	return "file:" + file, why, atomicfile.Write(file, []byte(value))
}

// Would is the place where [Places.Save] keeps a value if there is a keyring.
func (p Places) Would(name string, kind Kind) string {
	if kind == InFile {
		return "file:" + p.file(name)
	}
	return "keyring:" + name
}

func (p Places) file(name string) string { return filepath.Join(p.Dir, filepath.FromSlash(name)) }

// Made reports whether a place is one of those that Save makes for names below
// prefix.
func (p Places) Made(place, prefix string) bool {
	for _, kind := range []Kind{InKeyring, InFile} {
		if kind == InFile && p.Dir == "" {
			break
		}
		if rest, found := strings.CutPrefix(place, p.Would(prefix, kind)); found && rest != "" && (rest[0] == '/' || rest[0] == filepath.Separator) && !strings.Contains(rest, "..") {
			return true
		}
	}
	return false
}

// Remove removes the credential at a place. One that is not there is no error.
func (p Places) Remove(place string) error {
	if name, found := strings.CutPrefix(place, "keyring:"); found {
		return Delete(name)
	}
	file, found := strings.CutPrefix(place, "file:")
	if !found {
		return errors.New("no place of a credential")
	}
	err := os.Remove(file)
	for dir := filepath.Dir(file); len(dir) > len(p.Dir) && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir) // until one holds others
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
