//go:build !race

package sandbox_test

import "os"

const raced = false

// workerPath is this program: TestMain is a worker then.
func workerPath() string { return os.Args[0] }

func forgetWorker() {}
