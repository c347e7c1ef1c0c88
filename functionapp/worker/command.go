package worker

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"

	"github.com/tenon-mcp/tenon/functionapp"
)

// Process is the environment of [App.Main].
type Process struct {
	Args     []string                 // without the program name
	Getenv   func(name string) string // os.Getenv
	Out, Err io.Writer                // standard streams
}

// Exit codes of Main. A host does not restart the worker after 0.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

const usage = `without arguments: serve the host that started this program
emit [DIR]           write host.json and the functions into the folder of the app (default: .)
emit --check [DIR]   only compare; exit 1 where they differ
`

// Main is the main function of a program: it serves the host on the port in the
// environment until ctx ends, or writes the folder of the app. It returns the
// exit code.
func (a *App) Main(ctx context.Context, p Process) int {
	err := a.Err()
	if err != nil {
		fmt.Fprintln(p.Err, err)
		return exitFailed
	}
	for _, w := range a.Warnings() {
		fmt.Fprintln(p.Err, "warning:", w)
	}
	switch {
	case len(p.Args) == 0:
		err = a.serve(ctx, p)
	case p.Args[0] == "emit":
		return a.emit(p)
	default:
		fmt.Fprint(p.Err, usage)
		return exitUsage
	}
	if err != nil {
		fmt.Fprintln(p.Err, err)
		return exitFailed
	}
	return exitOK
}

func (a *App) serve(ctx context.Context, p Process) error {
	port := p.Getenv(functionapp.EnvPort)
	if port == "" {
		port = p.Getenv(functionapp.EnvOldPort)
	}
	if port == "" {
		return fmt.Errorf("%s is not set: a host starts this program, such as func start or tenon serve in the folder of the app\n%s", functionapp.EnvPort, usage)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Out, "listening on", l.Addr())
	return a.Serve(ctx, l)
}

func (a *App) emit(p Process) int {
	flags := flag.NewFlagSet("emit", flag.ContinueOnError)
	flags.SetOutput(p.Err)
	check := flags.Bool("check", false, "only compare; exit 1 where they differ")
	if flags.Parse(p.Args[1:]) != nil || flags.NArg() > 1 {
		fmt.Fprint(p.Err, usage)
		return exitUsage
	}
	folder := flags.Arg(0)
	if folder == "" {
		folder = "."
	}
	act := a.Emit
	if *check {
		act = a.Check
	}
	changes, err := act(folder)
	if err != nil {
		fmt.Fprintln(p.Err, err)
		return exitFailed
	}
	for _, c := range changes {
		switch {
		case *check:
			fmt.Fprintln(p.Out, c)
		case c.What == "left over":
			fmt.Fprintln(p.Out, "deleted", c.Path)
		default:
			fmt.Fprintln(p.Out, "wrote", c.Path)
		}
	}
	if *check && len(changes) > 0 {
		return exitFailed
	}
	return exitOK
}
