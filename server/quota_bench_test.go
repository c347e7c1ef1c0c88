package server

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkQuota gives a place back and takes one while so many wait.
func BenchmarkQuota(b *testing.B) {
	for name, caller := range map[string]func(i int) account{
		"one caller":      func(int) account { return account{key: "a", origin: "x"} },
		"many callers":    func(i int) account { return account{key: fmt.Sprint("c", i), origin: fmt.Sprint("x", i)} },
		"one address":     func(i int) account { return account{key: fmt.Sprint("c", i), origin: "x"} },
		"hundred callers": func(i int) account { return account{key: fmt.Sprint("c", i%100), origin: fmt.Sprint("x", i%10)} },
	} {
		for _, waiting := range []int{20, 2000} {
			b.Run(fmt.Sprintf("%s/%d", name, waiting), func(b *testing.B) {
				var q quota
				q.init(4096, 4096)
				other := account{key: "holder", origin: "elsewhere"}
				if _, ok := q.try(other, 4096); !ok {
					b.Fatal("there is no room")
				}
				got := make(chan account)
				for i := range waiting {
					go func() {
						for {
							if n, err := q.take(b.Context(), caller(i), 1, true, time.Hour); err != nil || n == 0 {
								return
							}
							got <- caller(i)
						}
					}()
				}
				for n := 0; n < waiting; time.Sleep(time.Millisecond) {
					q.mu.Lock()
					n = q.waiting.total.waiters
					q.mu.Unlock()
				}
				b.ResetTimer()
				q.give(other, 1)
				for range b.N {
					q.give(<-got, 1)
				}
				b.StopTimer()
			})
		}
	}
}
