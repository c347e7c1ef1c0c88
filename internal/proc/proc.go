// Package proc starts, watches and ends child processes. It is the only room
// that does.
//
// It does not know what a child is for: no port, no frame, no protocol, no
// restart. It inherits nothing to a child but what it is given, and it owns
// what it started: the child, everything that the child started in its group,
// and the pipes between.
//
// It stands beside the path: the sandbox keeps its JavaScript in such children,
// and a function app's worker is one.
//
// The rules that this package keeps:
//
//   - A child lives in a process group of its own (on Windows a job), and ends
//     with all of it: when it is killed, when it ends by itself and when this
//     process dies. The last holds on Linux and Windows; elsewhere a child that
//     reads its input learns of it by the end of the input.
//   - What a child says is bounded: a tail of its errors, lines of bounded
//     length.
//   - When Close has returned, nothing is left: no process, no goroutine, no
//     descriptor.
package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Command says what to start. Path alone is needed.
type Command struct {
	Path        string                          // file to run; without a slash it is looked for in this process's PATH
	Args        []string                        // without the name itself
	Env         []string                        // "NAME=value"; the child sees these and no others
	Dir         string                          // where it runs; empty: where this process does
	Files       []*os.File                      // that it has open besides, from descriptor 3 on; not on Windows
	Pipes       bool                            // its input and output are Stdin and Stdout; false: no input, and lines of output go to Line
	Line        func(failing bool, line string) // called for each line of its errors (failing) and, without Pipes, of its output, never two at once; nil: only the tail of the errors is kept
	TailBytes   int                             // of its errors that are kept for Tail; 0: 4096
	MaxResident int64                           // bytes of resident memory above which it is killed, where the system tells them (Linux); 0: no limit
}

const (
	defaultTail   = 4096
	residentEvery = 50 * time.Millisecond // between two looks at a limited child's memory
	streamsDelay  = time.Second           // for the last words of what escaped from a child's group
)

// Child is a process that was started. Its methods are safe for concurrent
// use. Close must be called in the end.
type Child struct {
	// Stdin and Stdout are this side's ends of the pipes; nil without Pipes.
	// Reading meets the end when the child is gone.
	Stdin  *os.File
	Stdout *os.File

	cmd   *exec.Cmd
	group group
	said  *tail
	done  chan struct{}
	close sync.Once

	mu      sync.Mutex
	pid     int    // 0: the child has ended, and its number may belong to another
	reason  string // why this side killed it
	outcome Exit
}

// Start starts a child. It runs when Start returns without an error; whether
// it does its work is another matter.
func Start(c Command) (*Child, error) {
	child := &Child{done: make(chan struct{}), said: newTail(c)}
	child.cmd = exec.Command(c.Path, c.Args...) //nolint:gosec,noctx // running what the operator names is the purpose; Close and Kill end it
	child.cmd.Dir = c.Dir
	child.cmd.Env = append([]string{}, c.Env...) // nil would mean: all of ours
	child.cmd.Stderr = child.said
	child.cmd.ExtraFiles = c.Files
	child.cmd.WaitDelay = streamsDelay
	var theirs []*os.File
	if c.Pipes {
		var err error
		if theirs, err = child.pipe(); err != nil {
			return nil, err
		}
	} else if c.Line != nil {
		child.cmd.Stdout = &child.said.output
	}
	started := make(chan error, 1)
	go child.live(started)
	err := <-started
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		child.closePipes()
		return nil, err
	}
	if c.MaxResident > 0 {
		go child.watch(c.MaxResident)
	}
	return child, nil
}

// pipe makes the pipes of the child's input and output and returns the ends
// that are for the child.
func (c *Child) pipe() ([]*os.File, error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inRead.Close(), inWrite.Close())
	}
	c.cmd.Stdin, c.cmd.Stdout = inRead, outWrite
	c.Stdin, c.Stdout = inWrite, outRead
	return []*os.File{inRead, outWrite}, nil
}

func (c *Child) closePipes() {
	if c.Stdin != nil {
		_ = c.Stdin.Close()
		_ = c.Stdout.Close()
	}
}

// live starts the child, says whether that worked, and stays with it until it
// has ended. Where the child is to die with its parent, the system means the
// thread that started it, so that thread stays here as long.
func (c *Child) live(started chan<- error) {
	defer keepThread()()
	prepare(c.cmd)
	if err := c.cmd.Start(); err != nil {
		started <- err
		return
	}
	c.pid = c.cmd.Process.Pid
	c.group = newGroup(c.cmd.Process)
	started <- nil

	reap(c.cmd, c.sweep)
	c.group.release()
	c.said.flush()

	c.mu.Lock()
	c.outcome = exitOf(c.cmd.ProcessState)
	c.outcome.Killed = c.reason
	c.outcome.Tail = c.said.String()
	c.mu.Unlock()
	close(c.done)
}

// sweep kills what the child leaves behind in its group. From then on its
// number is not used any more.
func (c *Child) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.group.kill()
	c.pid = 0
}

// watch kills the child when its memory passes the limit.
func (c *Child) watch(limit int64) {
	tick := time.NewTicker(residentEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-tick.C:
		}
		if used, ok := c.Resident(); ok && used > limit {
			c.Kill(fmt.Sprintf("it used %d MiB of memory, %d MiB are allowed", used>>20, limit>>20))
		}
	}
}

// PID returns the child's number, which belongs to it until Done.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Exit says how the child ended. Before Done it is the zero value.
func (c *Child) Exit() Exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outcome
}

// Tail returns the last bytes of the child's errors so far.
func (c *Child) Tail() string { return c.said.String() }

// Resident returns the bytes of memory that the child holds now; false where
// the system does not tell, or the child has ended.
func (c *Child) Resident() (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid == 0 {
		return 0, false
	}
	return resident(c.pid)
}

// Terminate asks the child's group to end (SIGTERM). On Windows, where nobody
// can be asked, it kills.
func (c *Child) Terminate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid != 0 {
		c.group.terminate()
	}
}

// Kill ends the child's group at once; Exit.Killed then is the first reason
// that was given. Done follows.
func (c *Child) Kill(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid == 0 {
		return
	}
	if c.reason == "" {
		c.reason = reason
	}
	c.group.kill()
}

// Stop asks the child to end, kills it when it has not done so after grace,
// and returns when it has ended.
func (c *Child) Stop(grace time.Duration) {
	c.Terminate()
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-c.done:
	case <-late.C:
		c.Kill(fmt.Sprintf("it did not end within %s", grace))
		<-c.done
	}
}

// Close kills the child if it still runs, waits for its end and closes the
// pipes.
func (c *Child) Close() {
	c.close.Do(func() {
		c.Kill("it was not needed any more")
		<-c.done
		c.closePipes()
	})
}
