// Command attacks is what hostile callers and upstreams do to a real server:
// `attacks [-only NAME] TENON`. It starts the built binary as a process, looks at
// its memory and its answers, and says of each attack what came of it.
//
// It knows nothing of the code that it tests.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// attack is one line of the table. What it returns is told; an error fails it.
type attack struct {
	name string
	run  func(ctx context.Context, tenon string) (told string, err error)
}

func attacks() []attack {
	return []attack{
		{"slow-readers", slowReaders},
		{"files", files},
		{"http2", http2Upstreams},
		{"bombs", bombs},
		{"smuggling", smuggling},
		{"tls", overTLS},
		{"floods", floods},
		{"replays", replays},
		{"full-disk", fullDisk},
		{"refused", refused},
		{"audit-full", fullAudit},
		{"workers", workers},
		{"app-files", appFiles},
		{"functions", functions},
		{"soak", soak},
	}
}

// swapTime is how long files are swapped, and the soak takes.
var swapTime = flag.Duration("time", 10*time.Second, "how long files are swapped, and the soak takes") //nolint:gochecknoglobals // a flag

func main() {
	if len(os.Args) == 3 && os.Args[1] == asWorker {
		work(os.Args[2])
		return
	}
	only := flag.String("only", "", "the attacks whose names begin so")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed := false
	for _, a := range attacks() {
		if !strings.HasPrefix(a.name, *only) {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, 3*time.Minute+*swapTime)
		began := time.Now()
		told, err := a.run(limited, flag.Arg(0))
		cancel()
		took := time.Since(began).Round(100 * time.Millisecond)
		if err != nil {
			failed = true
			fmt.Printf("FAILED %s after %v: %v\n", a.name, took, err)
			continue
		}
		fmt.Printf("%s: %s (%v)\n", a.name, told, took)
	}
	if failed {
		os.Exit(1)
	}
}
