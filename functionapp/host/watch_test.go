package host_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/functionapp/host"
)

func TestTheFilesOfAnAppAreWatched(t *testing.T) {
	dir := newApp(t, "", functionapp.Tool{Name: "Echo"})
	s := host.New(dir, host.Options{OnDemand: true})
	load(t, s)
	t.Cleanup(func() { _ = s.Close() })
	told := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := s.Watch(ctx, func() { told <- struct{}{} }); err != nil {
			t.Error(err)
		}
	})
	defer ended.Wait()
	defer cancel()
	for _, change := range []struct {
		name string
		make func()
	}{
		{"a function more", func() { addTool(t, dir, functionapp.Tool{Name: "Say"}) }},
		{"a function in another way", func() { addTool(t, dir, functionapp.Tool{Name: "Say", Description: "says"}) }},
		{"settings that were not there", func() { write(t, dir, "local.settings.json", `{"Values":{"A":"b"}}`) }},
		{"another worker", func() { write(t, dir, "host.json", hostFile("plain", 0)) }},
	} {
		change.make()
		select {
		case <-told:
		case <-time.After(time.Minute):
			t.Fatalf("%s: never told", change.name)
		}
		load(t, s)
	}
}
