package evidence

import (
	"path/filepath"
	"testing"
	"time"
)

// What comes faster than it is counted is dropped, and the ledger says how much.
func TestFullQueue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	hold, entered := make(chan struct{}), make(chan struct{}, 1)
	r, err := Open(Options{Path: path, Interval: time.Hour, Describe: func(any) Operation {
		entered <- struct{}{}
		<-hold
		return Operation{Name: "slow"}
	}})
	if err != nil {
		t.Fatal(err)
	}
	o := Observation{Tool: "t", SentStatus: 200}
	for range maxWaiting / 2 {
		r.Observe(&o)
	}
	<-entered
	for range maxWaiting + 100 { // what waits now, and too many
		r.Observe(&o)
	}
	close(hold)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range l.Sum() {
		if c.Calls != maxWaiting/2+maxWaiting || l.Dropped() != 100 {
			t.Errorf("%d calls, %d dropped", c.Calls, l.Dropped())
		}
	}
}
