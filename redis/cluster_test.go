package redis_test

import (
	"net"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/redis"
	"github.com/tenon-mcp/tenon/tenontest"
)

// TestStoreInACluster runs the checks of every Store against two servers, each of which
// has half of the keys.
func TestStoreInACluster(t *testing.T) {
	var all []string
	for _, slots := range []string{"0 8191", "8192 16383"} {
		l, err := net.Listen("tcp", "127.0.0.1:0") // where the servers talk to each other
		if err != nil {
			t.Fatal(err)
		}
		_, bus, _ := net.SplitHostPort(l.Addr().String())
		_ = l.Close()
		address := start(t, "--cluster-enabled", "yes", "--cluster-port", bus)
		if said := ask(t, address, "CLUSTER ADDSLOTSRANGE "+slots); said != "OK" {
			t.Fatal(said)
		}
		if len(all) > 0 {
			host, port, _ := net.SplitHostPort(address)
			if said := ask(t, all[0], "CLUSTER MEET "+host+" "+port+" "+bus); said != "OK" {
				t.Fatal(said)
			}
		}
		all = append(all, address)
	}
	for _, address := range all {
		until(t, func() bool { return strings.Contains(ask(t, address, "CLUSTER INFO"), "cluster_state:ok") })
	}
	tenontest.Store(t, func(t *testing.T) tenon.Store {
		return open(t, "redis+cluster://"+strings.Join(all, ","), redis.Options{Prefix: t.Name()})
	}, tenontest.StateOptions{})
}
