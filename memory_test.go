package tenon_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/tenontest"
)

func TestMemory(t *testing.T) {
	tenontest.State(t, func(*testing.T) tenon.State { return tenon.NewMemory(tenon.MemoryOptions{}) }, tenontest.StateOptions{
		Around: synctest.Test,
		Wait:   time.Sleep,
		Bounded: func(_ *testing.T, keys, bytes int) tenon.State {
			return tenon.NewMemory(tenon.MemoryOptions{MaxKeys: keys, MaxBytes: bytes})
		},
	})
}
