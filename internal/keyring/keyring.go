// Package keyring keeps credentials in the keyring of the operating system: the
// Secret Service on Linux, the Keychain on macOS, the Credential Manager on
// Windows.
//
// It does not know what a credential is for, nor who may read it: the system
// decides that.
//
// `tenon install` stores credentials with it, and a server that a client started
// reads them when it starts. Nothing touches the keyring before somebody asks.
package keyring

import (
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/tenon-mcp/tenon/internal/incident"
)

// service is under which name the system shows the entries.
const service = "tenon"

// wait is how long the system may take: it may ask its user to unlock the
// keyring.
const wait = 60 * time.Second

// ErrNotFound says that the keyring has no entry of a name.
var ErrNotFound = errors.New("the keyring has no such entry")

// ErrUnavailable says that there is no keyring, or that it does not answer.
var ErrUnavailable = errors.New("there is no keyring that answers")

// Get returns the entry of a name.
func Get(name string) (value string, err error) {
	err = within(func() (err error) {
		value, err = keyring.Get(service, name)
		return err
	})
	if err != nil {
		return "", err
	}
	return value, nil
}

// Set stores an entry, and reads it again: some keyrings take what they lose.
func Set(name, value string) error {
	return within(func() error {
		if err := keyring.Set(service, name, value); err != nil {
			return err
		}
		stored, err := keyring.Get(service, name)
		if err == nil && stored != value {
			err = errors.New("the keyring returns something else than it was given")
		}
		return err
	})
}

// Delete removes an entry. One that is not there is no error.
func Delete(name string) error {
	err := within(func() error { return keyring.Delete(service, name) })
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// within runs f and gives up after a time: what the system asks its user may
// never be answered. Errors of the library are wrapped, and hold no values.
func within(f func() error) error {
	done := make(chan error, 1)
	incident.Go(nil, "the keyring", func() { done <- f() }, func(e *incident.Error) { done <- e })
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case err := <-done:
		switch {
		case err == nil:
			return nil
		case errors.Is(err, keyring.ErrNotFound):
			return ErrNotFound
		}
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case <-late.C:
		return fmt.Errorf("%w within %v", ErrUnavailable, wait)
	}
}
