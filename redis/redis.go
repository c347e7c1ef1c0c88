package redis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/tenon-mcp/tenon"
)

const (
	// version of keys and values: others are not read.
	version = "1"

	defaultMaxValue = 32 << 20 // bytes
	defaultTimeout  = 2 * time.Second
)

// Options are the options of Open beside the URL. The zero value works.
type Options struct {
	Password string // of the user in the URL; empty: none
	// Prefix of all keys, for stores that others use, too; empty: "tenon".
	Prefix   string
	MaxValue int           // bytes of a value before it is compressed; 0: 32 MiB
	Timeout  time.Duration // of connecting, and of a call; 0: two seconds
}

// Store implements tenon.Store, tenon.Adder, tenon.Getter and tenon.Announcer.
type Store struct {
	client   redis.UniversalClient
	prefix   string
	versions string // key of the list of versions
	maxValue int
	cluster  bool
}

// Open connects to the store at a URL and asks whether it answers, and whether it may
// be used.
//
//	redis://[USER@]HOST[:PORT][/DATABASE]     one server; rediss with TLS
//	redis+cluster://HOST[:PORT][,HOST...]     a cluster; rediss+cluster with TLS
//	redis+sentinel://HOST[:PORT][,HOST...]/NAME[/DATABASE]
//
// The password does not belong into the URL: others see the command line.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	at, err := parse(url)
	if err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxValue <= 0 {
		o.MaxValue = defaultMaxValue
	}
	if o.Prefix == "" {
		o.Prefix = "tenon"
	}
	quiet()
	s := &Store{client: at.client(o), prefix: o.Prefix + ":" + version + ":", versions: o.Prefix + ":versions", maxValue: o.MaxValue, cluster: at.cluster}
	if err := s.check(ctx); err != nil {
		_ = s.client.Close()
		return nil, explained(err, at)
	}
	return s, nil
}

// key is a digest: of one length, without characters that mean something to a
// cluster, and without the names that the gateway has in its keys.
func (s *Store) key(name string) string {
	sum := sha256.Sum256([]byte(name))
	return s.prefix + hex.EncodeToString(sum[:20])
}

// Get implements tenon.Store.
func (s *Store) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	return s.valueOf(s.client.Get(ctx, s.key(key)).Bytes())
}

// GetAll implements tenon.Getter, in one round trip to each server that has one of the
// keys.
func (s *Store) GetAll(ctx context.Context, keys []string) (values [][]byte, err error) {
	got := make([]*redis.StringCmd, len(keys))
	_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			got[i] = p.Get(ctx, s.key(key))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, failed(err)
	}
	values = make([][]byte, len(keys))
	for i := range got {
		value, ok, err := s.valueOf(got[i].Bytes())
		if err != nil {
			return nil, err
		}
		if ok {
			values[i] = append([]byte{}, value...) // one of no bytes is not nil
		}
	}
	return values, nil
}

// GetAndDelete implements tenon.Store.
func (s *Store) GetAndDelete(ctx context.Context, key string) (value []byte, ok bool, err error) {
	return s.valueOf(s.client.GetDel(ctx, s.key(key)).Bytes())
}

func (s *Store) valueOf(text []byte, err error) (value []byte, ok bool, _ error) {
	if errors.Is(err, redis.Nil) {
		return nil, false, nil
	}
	if err == nil {
		value, err = s.unpack(text)
	}
	if err != nil {
		return nil, false, failed(err)
	}
	return value, true, nil
}

// Put implements tenon.Store.
func (s *Store) Put(ctx context.Context, key string, value []byte, life time.Duration) error {
	text, err := s.pack(value)
	if err != nil {
		return err
	}
	return failed(s.client.Set(ctx, s.key(key), text, atLeast(life)).Err())
}

// PutIfAbsent implements tenon.Store.
func (s *Store) PutIfAbsent(ctx context.Context, key string, value []byte, life time.Duration) (ok bool, err error) {
	text, err := s.pack(value)
	if err != nil {
		return false, err
	}
	ok, err = s.client.SetNX(ctx, s.key(key), text, atLeast(life)).Result()
	return ok, failed(err)
}

// Increment implements tenon.Store.
func (s *Store) Increment(ctx context.Context, key string, delta int64, life time.Duration) (sum int64, err error) {
	sums, err := s.IncrementAll(ctx, []tenon.Addition{{Key: key, N: delta, Life: life}})
	if err != nil {
		return 0, err
	}
	return sums[0], nil
}

// IncrementAll implements tenon.Adder, in one round trip to each server that has one of
// the keys.
func (s *Store) IncrementAll(ctx context.Context, all []tenon.Addition) (sums []int64, err error) {
	added := make([]*redis.IntCmd, len(all))
	add := func(p redis.Pipeliner) error {
		for i, a := range all {
			key, life := s.key(a.Key), atLeast(a.Life)
			if s.cluster {
				p.SetNX(ctx, key, 0, life)
			}
			added[i] = p.IncrBy(ctx, key, a.N)
			p.Do(ctx, "PEXPIRE", key, life.Milliseconds(), "NX") // the first Increment decides
		}
		return nil
	}
	// A number and the end of its life are one transaction: without the second it
	// would stay for ever. In a cluster there is none for keys of several servers, and
	// a number begins with its life.
	if s.cluster {
		_, err = s.client.Pipelined(ctx, add)
	} else {
		_, err = s.client.TxPipelined(ctx, add)
	}
	if err != nil {
		return nil, failed(err)
	}
	sums = make([]int64, len(all))
	for i := range added {
		sums[i] = added[i].Val()
	}
	return sums, nil
}

// Close implements tenon.Store.
func (s *Store) Close() error { return s.client.Close() }

// atLeast is a life that the store takes for one: a millisecond is its unit, and
// none would be for ever.
func atLeast(life time.Duration) time.Duration { return max(life, time.Millisecond) }

// failed says of an error of the store whether it is full.
func failed(err error) error {
	if err == nil {
		return nil
	}
	if strings.HasPrefix(err.Error(), "OOM ") {
		return fmt.Errorf("%w: %w", tenon.ErrStoreFull, err)
	}
	return err
}
