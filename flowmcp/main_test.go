package flowmcp_test

import (
	"os"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp"
)

// worker starts this program as a worker: TestMain is one then.
func worker() []string { return []string{os.Args[0], "sandbox-worker"} }

func TestMain(m *testing.M) {
	flowmcp.WorkerMain()
	os.Exit(m.Run())
}
