package evidence

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/tenon-mcp/tenon"
)

// Replicas exchange what they count through their store: each puts its own writer there,
// and takes those of the others into its file. A merge takes the larger count of each
// writer, so it does not matter how often, in which order, and over how many it comes.

const (
	shares     = 64                 // replicas that share
	maxShare   = 1 << 20            // bytes of one
	shareLife  = 7 * 24 * time.Hour // of what nobody counts in any more
	shareWait  = 5 * time.Second    // for the store
	shareEvery = time.Minute
)

// sharing is a file's part in it.
type sharing struct {
	file  *File
	store tenon.Store
	taken [shares][sha256.Size]byte // what was taken last
}

func shareName(i int) string { return fmt.Sprintf("evidence %02d", i) }

// exchange puts what the file's writer counted, and takes what others did.
func (s *sharing) exchange(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shareWait)
	defer cancel()
	var all [shares][]byte
	for i := range all {
		text, _, err := s.store.Get(ctx, shareName(i))
		if err != nil {
			return err
		}
		all[i] = text
	}
	own, id, err := s.own()
	if err != nil {
		return err
	}
	return errors.Join(s.give(ctx, all[:], own, id), s.take(all[:], id))
}

// own is the ledger of the file's writer alone; nil: it has counted nothing.
func (s *sharing) own() (text []byte, id string, err error) {
	err = s.file.locked(func() error {
		l, err := s.file.read()
		if err != nil {
			return err
		}
		known := len(l.Writers)
		id = s.file.writer(l)
		if len(l.Writers) > known {
			return nil // a new one, which is not kept
		}
		var b bytes.Buffer
		one := New()
		one.Writers[id] = l.Writers[id]
		err = one.Write(&b)
		text = b.Bytes()
		return err
	})
	return text, id, err
}

// give puts own into the place that has its writer, or into a free one.
func (s *sharing) give(ctx context.Context, all [][]byte, own []byte, id string) error {
	switch {
	case own == nil:
		return nil
	case len(own) > maxShare:
		return fmt.Errorf("what was counted has %d bytes, of which replicas share %d at most", len(own), maxShare)
	}
	for i, text := range all {
		if !bytes.Contains(text, []byte(`"writer":"`+id+`"`)) {
			continue
		}
		if bytes.Equal(text, own) {
			return nil
		}
		return s.store.Put(ctx, shareName(i), own, shareLife)
	}
	for i, text := range all {
		if text != nil {
			continue
		}
		mine, err := s.store.PutIfAbsent(ctx, shareName(i), own, shareLife)
		if err != nil || mine {
			return err
		}
	}
	return fmt.Errorf("%d replicas share what they count already", shares)
}

// take merges what others put into the file. Their writers count elsewhere, so the file
// never goes on under their ids.
func (s *sharing) take(all [][]byte, id string) (err error) {
	news := New()
	var sums [shares][sha256.Size]byte
	for i, text := range all {
		if text == nil {
			continue
		}
		if sums[i] = sha256.Sum256(text); sums[i] == s.taken[i] {
			continue
		}
		other, wrong := Read(bytes.NewReader(text))
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s of the store: %w", shareName(i), wrong))
			continue
		}
		delete(other.Writers, id)
		for _, w := range other.Writers {
			w.Home = ""
		}
		news.Merge(other)
	}
	if len(news.Writers) == 0 {
		s.taken = sums
		return err
	}
	failed := s.file.Change(func(l *Ledger) error {
		l.Merge(news)
		return nil
	})
	if failed == nil {
		s.taken = sums
	}
	return errors.Join(err, failed)
}
