// Package proc starts, watches and ends child processes. It is the only package
// that does.
//
// It does not know what a child is for: no ports, no protocols, no restarts. A
// child inherits only what it is given. The package owns what it started: the
// child, its process group and the pipes.
//
// The sandbox runs its JavaScript in such children, and a function app's worker
// is one.
//
// Invariants:
//
//   - A child runs in a process group of its own (on Windows a job), which ends
//     completely: when the child is killed, when it exits and when this process
//     dies. The last is guaranteed on Linux and Windows; elsewhere a child
//     notices it by the end of its stdin. Processes that leave the group end
//     with the child where they carry its mark; see [Command].
//   - The output of a child is limited: a tail of stderr, and lines of limited
//     length.
//   - When Close has returned, no process, goroutine or descriptor is left.
package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Command describes a child. Path is required.
type Command struct {
	Path        string                          // file to run; looked up in this process's PATH unless it contains a slash
	Args        []string                        // without the program name
	Env         []string                        // "NAME=value"; the complete environment
	Mark        string                          // a unique entry of Env: processes that left the child's group are found by it and killed with the child (Linux); empty: only the group is
	Dir         string                          // working directory; empty: that of this process
	Pipes       bool                            // connect stdin and stdout to Stdin and Stdout; false: no stdin, and stdout is passed to Line
	Line        func(failing bool, line string) // called for each line of stderr (failing) and, without Pipes, of stdout, never concurrently; nil: only the tail of stderr is kept
	TailBytes   int                             // bytes of stderr kept for Tail; 0: 4096
	MaxResident int64                           // limit of resident memory in bytes above which the child is killed (Linux); 0: none
}

const (
	defaultTail   = 4096
	residentEvery = 50 * time.Millisecond // interval between checks of a child's memory
	streamsDelay  = time.Second           // wait for output of processes that left the group
)

// Child is a started process. Its methods are safe for concurrent use. It must
// be closed.
type Child struct {
	// Stdin and Stdout are this process's ends of the pipes; nil without Pipes.
	// Reading returns EOF after the child has ended.
	Stdin  *os.File
	Stdout *os.File

	cmd    *exec.Cmd
	mark   string
	group  group
	stderr *tail
	done   chan struct{}
	close  sync.Once

	mu      sync.Mutex
	pid     int    // 0: the child has ended, and its pid may be reused
	reason  string // why this process killed it
	outcome Exit
}

// Start starts a child. An error means that it could not be started at all.
func Start(c Command) (*Child, error) {
	child := &Child{done: make(chan struct{}), stderr: newTail(c), mark: c.Mark}
	child.cmd = exec.Command(c.Path, c.Args...) //nolint:gosec,noctx // running the operator's command is the purpose; Close and Kill end it
	child.cmd.Dir = c.Dir
	child.cmd.Env = append([]string{}, c.Env...) // nil would inherit ours
	child.cmd.Stderr = child.stderr
	child.cmd.WaitDelay = streamsDelay
	var theirs []*os.File
	if c.Pipes {
		var err error
		if theirs, err = child.pipe(); err != nil {
			return nil, err
		}
	} else if c.Line != nil {
		child.cmd.Stdout = &child.stderr.output
	}
	started := make(chan error, 1)
	go child.run(started)
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

// pipe creates the pipes for stdin and stdout and returns the child's ends.
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

// run starts the child, reports the result, and waits until it has ended. The
// death signal is tied to the thread that starts a child, so the thread stays
// locked meanwhile.
func (c *Child) run(started chan<- error) {
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
	c.stderr.flush()

	c.mu.Lock()
	c.outcome = exitOf(c.cmd.ProcessState)
	c.outcome.Killed = c.reason
	c.outcome.Tail = c.stderr.String()
	c.mu.Unlock()
	close(c.done)
}

// sweep kills the rest of the child's group and the processes that left it. Its
// pid is not used afterwards.
func (c *Child) sweep() {
	defer killMarked(c.mark)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.group.kill()
	c.pid = 0
}

// watch kills the child when its memory exceeds the limit.
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

// PID returns the child's process id, which is valid until Done.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Exit returns how the child ended. Before Done it is the zero value.
func (c *Child) Exit() Exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outcome
}

// Tail returns the last bytes of stderr so far.
func (c *Child) Tail() string { return c.stderr.String() }

// Resident returns the resident memory of the child; false where the system
// does not report it or the child has ended.
func (c *Child) Resident() (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid == 0 {
		return 0, false
	}
	return resident(c.pid)
}

// Terminate sends SIGTERM to the child's group. On Windows it kills.
func (c *Child) Terminate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid != 0 {
		c.group.terminate()
	}
}

// Kill kills the child's group. Exit.Killed is the first reason given. It does
// not wait for Done.
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

// Stop terminates the child, kills it if it has not ended after grace, and
// returns when it has ended.
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

// Close kills the child if it is running, waits for its end and closes the
// pipes.
func (c *Child) Close() {
	c.close.Do(func() {
		c.Kill("it is no longer needed")
		<-c.done
		c.closePipes()
	})
}
