package flowmcp_test

import (
	"os"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp"
)

func TestMain(m *testing.M) {
	flowmcp.WorkerMain()
	code := m.Run()
	forgetWorker()
	os.Exit(code)
}
