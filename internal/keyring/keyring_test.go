package keyring

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/zalando/go-keyring"
)

// Tests of this package replace the system's keyring for the whole process, so
// they do not run beside each other.

func TestEntries(t *testing.T) {
	keyring.MockInit()
	if _, err := Get("cursor/shop/key"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("an entry that nobody stored: %v", err)
	}
	if err := Set("cursor/shop/key", "s3cret\n☃"); err != nil {
		t.Fatal(err)
	}
	if got, err := Get("cursor/shop/key"); err != nil || got != "s3cret\n☃" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Get("cursor/shop"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an entry of another name: %v", err)
	}
	for range 2 { // the second time there is none
		if err := Delete("cursor/shop/key"); err != nil {
			t.Error(err)
		}
	}
	if _, err := Get("cursor/shop/key"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an entry that was deleted: %v", err)
	}
}

func TestNoKeyring(t *testing.T) {
	broken := errors.New("no such bus")
	keyring.MockInitWithError(broken)
	_, err := Get("x")
	for _, err := range []error{err, Set("x", "s3cret"), Delete("x")} {
		if !errors.Is(err, ErrUnavailable) || !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
	}
}

// A keyring that asks its user, who is away, is given up.
func TestKeyringThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := make(chan struct{})
		err := within(func() error { <-answered; return nil })
		if !errors.Is(err, ErrUnavailable) {
			t.Error(err)
		}
		close(answered)
	})
}

// A panic of the library is an error.
func TestPanicOfTheLibrary(t *testing.T) {
	if err := within(func() error { panic("bus") }); err == nil {
		t.Error("no error")
	}
}
