//go:build !race

package flowmcp_test

import "os"

// worker starts this program as a worker: TestMain is one then.
func worker() []string { return []string{os.Args[0], "sandbox-worker"} }

func forgetWorker() {}
