package limit_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon/internal/limit"
	"github.com/tenon-mcp/tenon/internal/memstore"
)

// Names do not make the memory grow: the least recently used is forgotten, and what
// has nothing to remember goes by itself.
func TestNamesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCaller(t, limit.Options{}, "everybody=rate 1/m day 100 concurrent 1")
		counted := c.l.Counted(100)
		regular := c.key("regular")
		regular.call("a")
		for i := range 5000 {
			c.key(fmt.Sprint("name ", i)).call("a")
			if i%20 == 0 && regular.call("a") == 0 {
				t.Fatal("who calls all the time was forgotten")
			}
		}
		if n := counted(); n > 100 || c.l.Inside() != 0 {
			t.Errorf("%d are counted, %d inside", n, c.l.Inside())
		}
	})
}

func TestRefusedNamesAreBounded(t *testing.T) {
	c := newCaller(t, limit.Options{Store: memstore.New(memstore.Options{MaxKeys: 1 << 20})}, "everybody=day 1")
	for i := range limit.MaxClosed + 100 {
		who := c.key(fmt.Sprint("name ", i))
		who.call("a")
		who.call("a")
	}
	if n := c.l.Closed(); n > limit.MaxClosed {
		t.Errorf("%d are kept", n)
	}
}

func TestWhatIsOverIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCaller(t, limit.Options{}, "everybody=rate 60/m burst 1")
		counted := c.l.Counted(1 << 20)
		for i := range 1000 {
			c.key(fmt.Sprint("name ", i)).call("a")
			time.Sleep(time.Second)
		}
		if n := counted(); n > 3 {
			t.Errorf("%d are kept", n)
		}
	})
}

func BenchmarkAdmit(b *testing.B) {
	for name, texts := range map[string][]string{
		"no rules": nil, "others": {"key:bob=rate 10/m"}, "one": {"everybody=rate 1000000/s"},
		"usual": {"everybody=rate 1000000/s burst 1000000 concurrent 10", "key:alice=day 1000000000", "everybody one/*=rate 1000000/s shared"},
	} {
		for way, options := range counting {
			b.Run(name+"/"+way, func(b *testing.B) {
				c := newCaller(b, options(), texts...)
				a := c.attempt("a")
				b.ReportAllocs()
				for b.Loop() {
					leave, err := c.l.Admit(b.Context(), a)
					if err == nil && leave != nil {
						leave()
					}
				}
			})
		}
	}
}
