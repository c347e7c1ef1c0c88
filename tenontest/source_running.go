package tenontest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
)

const labelKey = "tenontest"

// labelled runs f. All goroutines that begin in it have the check's label, so
// that it knows its own where tests run side by side.
func (c *sourceCheck) labelled(ctx context.Context, f func(context.Context)) {
	id := rand.Text()
	c.label = fmt.Sprintf("%q:%q", labelKey, id)
	pprof.Do(ctx, pprof.Labels(labelKey, id), f)
}

// leftRunning reports goroutines that outlive the source.
func (c *sourceCheck) leftRunning(s tenon.Source) {
	left := c.grown(nil, 1)
	after := "after Close"
	if _, ok := s.(closer); !ok && len(left) > 0 {
		after = "the source has no Close, and when everything is done"
	}
	for _, at := range left {
		c.problem("%s a goroutine is left running: %s", after, at)
	}
}

// grown waits, within the timeout, until at no place n goroutines more
// run than before, and returns the places where they do.
func (c *sourceCheck) grown(before []string, n int) (places []string) {
	for end := time.Now().Add(c.timeout); ; time.Sleep(time.Millisecond) { //nolint:forbidigo // nothing tells that a goroutine has ended
		more := map[string]int{}
		for _, at := range c.running() {
			more[at]++
		}
		for _, at := range before {
			more[at]--
		}
		maps.DeleteFunc(more, func(_ string, count int) bool { return count < n })
		if len(more) == 0 || time.Now().After(end) {
			return slices.Sorted(maps.Keys(more))
		}
	}
}

// running returns where each goroutine is that began in this check. Its own are
// left out, and so are those of HTTP connections that wait for a next request.
func (c *sourceCheck) running() []string {
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		c.problem("the goroutines cannot be listed: %v", err)
	}
	_, groups, _ := strings.Cut(b.String(), "\n") // the first line counts them
	var found []string
	for group := range strings.SplitSeq(groups, "\n\n") {
		if !strings.Contains(group, c.label) || isOurs(group) || isIdle(group) {
			continue
		}
		count, _, _ := strings.Cut(group, " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			c.problem("the list of goroutines has %q in the place of a number", count)
		}
		found = append(found, slices.Repeat([]string{whereOf(group)}, n)...)
	}
	return found
}

// isOurs reports whether a goroutine is one of the check: what hangs in it has
// been reported.
func isOurs(group string) bool {
	return strings.Contains(group, "tenontest.(*sourceCheck).")
}

// isIdle reports whether a goroutine stands for an HTTP connection that is kept
// for later. One whose body nobody closed is not idle.
func isIdle(group string) bool {
	return strings.Contains(group, "net/http.(*persistConn).writeLoop") ||
		strings.Contains(group, "net/http.(*persistConn).readLoop") && strings.Contains(group, "bufio.(*Reader).Peek") ||
		strings.Contains(group, "net/http.(*http2")
}

// whereOf names the place in a goroutine's stack that most likely says whose it
// is: the highest that is not the standard library's.
func whereOf(group string) string {
	place := "an unknown place"
	for line := range strings.Lines(group) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[0] != "#" || fields[1] == "labels:" {
			continue
		}
		function, _, _ := strings.Cut(fields[2], "+0x")
		place = function + " at " + fields[3]
		if first, _, inFolder := strings.Cut(function, "/"); strings.Contains(first, ".") && inFolder {
			return place
		}
	}
	if strings.Contains(place, "net/http.(*persistConn).readLoop") {
		return "a connection whose answer has a body that nobody closed"
	}
	return place
}
