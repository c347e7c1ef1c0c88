package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/tenon-mcp/tenon"
)

// quiet makes the library say nothing by itself: its lines would stand between those of
// the program's log, and what fails is an error of ours.
var quiet = sync.OnceFunc(func() { redis.SetLogger(silence{}) }) //nolint:gochecknoglobals // the library's logger is one, too

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// check asks whether the store answers and whether all of it may be used. One that is
// full is no mistake.
func (s *Store) check(ctx context.Context) error {
	if err := s.client.Ping(ctx).Err(); err != nil {
		return err
	}
	const probe = "probe"
	err := s.Put(ctx, probe, nil, time.Millisecond)
	if err == nil {
		_, _, err = s.GetAndDelete(ctx, probe)
	}
	if err == nil {
		_, err = s.Increment(ctx, probe+" number", 1, time.Millisecond)
	}
	if errors.Is(err, tenon.ErrStoreFull) {
		return nil
	}
	return err
}

// explained says what to do about an error of the first call.
func explained(err error, at *address) error {
	text := err.Error()
	is := func(code string) bool {
		return strings.HasPrefix(text, code+" ") || strings.Contains(text, ": "+code+" ")
	}
	switch {
	case is("NOAUTH"):
		return fmt.Errorf("the store %s wants a password: give it in store-password", at)
	case is("WRONGPASS"):
		return fmt.Errorf("the store %s refuses the user or the password", at)
	case is("NOPERM"):
		return fmt.Errorf("the store %s does not let its user do what is needed; docs/replicas.md names the rights: %w", at, err)
	case is("READONLY"):
		return fmt.Errorf("the store %s is a copy that cannot be written to: name the server that it is a copy of, or sentinels that know which that is", at)
	}
	return fmt.Errorf("the store %s does not answer: %w", at, err)
}

const (
	versionsKept = 30 * 24 * time.Hour
	versionsUsed = 24 * time.Hour // so long ago another version counts as used
)

// OtherVersions notes that this version of keys and values is used, and returns others
// that were in the last day, by when. Nothing of them is read. The list of versions
// is the one thing that all have in the same place.
func (s *Store) OtherVersions(ctx context.Context) (map[string]time.Time, error) {
	key, now := s.versions, time.Now()
	var all *redis.MapStringStringCmd
	_, err := s.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, key, version, now.Unix())
		p.Expire(ctx, key, versionsKept)
		all = p.HGetAll(ctx, key)
		return nil
	})
	if err != nil {
		return nil, failed(err)
	}
	others := map[string]time.Time{}
	for name, text := range all.Val() {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if at := time.Unix(seconds, 0); err == nil && name != version && now.Sub(at) < versionsUsed {
			others[name] = at
		}
	}
	return others, nil
}

// Told is what [Store.OtherVersions] returned as a text; empty: there is none.
func Told(others map[string]time.Time) string {
	parts := make([]string, 0, len(others))
	for _, name := range slices.Sorted(maps.Keys(others)) {
		parts = append(parts, fmt.Sprintf("%.20q at %s", name, others[name].UTC().Format(time.RFC3339)))
	}
	return strings.Join(parts, ", ")
}
