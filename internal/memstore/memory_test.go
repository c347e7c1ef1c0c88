package memstore_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/memstore"
	"github.com/tenon-mcp/tenon/tenontest"
)

func TestStore(t *testing.T) {
	tenontest.Store(t, func(*testing.T) tenon.Store { return memstore.New(memstore.Options{}) }, tenontest.StateOptions{
		Around: synctest.Test,
		Wait:   time.Sleep,
		Bounded: func(_ *testing.T, keys, bytes int) tenon.Store {
			return memstore.New(memstore.Options{MaxKeys: keys, MaxBytes: bytes})
		},
	})
}
