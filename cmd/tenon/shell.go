package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/mcpclient"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// maxHistory bounds the lines that a shell remembers. They are kept nowhere
// else: an argument may be a secret.
const maxHistory = 1000

func shellCommand(e env) *cobra.Command {
	sources := unasked(onDemand(newSources(slog.LevelInfo)))
	var to shellTarget
	cmd := &cobra.Command{
		Use:   "shell SPEC... | URL | --url URL | --stdio -- COMMAND [ARG...]",
		Short: "Try tools interactively, of descriptions or of any MCP server",
		Long: `Connect to an MCP server and try its tools interactively: those of descriptions,
of a server at a URL, or of a server started on standard input and output. A URL
that is not a description is used as the URL of a server; without a path, /mcp
and /jsonrpc are tried as well.

  list [WORD...]                     tools, or those whose line has all words
  schema TOOL                        arguments and results of a tool
  call TOOL [key=value... | {json}]  a call; key:=value is always JSON
  history, !N                        previous lines; repeat line N
  help, quit

On a terminal the tab key completes commands, tools and arguments, and the arrow
keys browse the history. Otherwise lines are read from standard input.`,
		Example: `  tenon shell petstore.yaml
  tenon shell --url http://127.0.0.1:8080/mcp
  tenon shell --stdio -- npx -y @modelcontextprotocol/server-everything
  echo 'call getPet petId=7' | tenon shell petstore.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := to.open(cmd.Context(), e, &sources, args)
			if err != nil {
				return err
			}
			defer p.Close()
			s := &shell{server: p, out: e.out, err: e.err, timeout: sources.config.Defaults.Timeout}
			if err := s.start(cmd.Context()); err != nil {
				return to.failed(err)
			}
			return s.run(cmd.Context(), e.in)
		},
	}
	sources.register(cmd)
	cmd.Flags().StringVar(&to.url, "url", "", "connect to the MCP server at this URL; --header is sent to it")
	cmd.Flags().BoolVar(&to.stdio, "stdio", false, "start the command after -- and connect to it")
	cmd.Flags().StringArrayVar(&to.env, "env", nil, "pass this environment variable to the command, in addition to PATH, HOME and a few others (repeatable)")
	return cmd
}

// shell is a conversation with an MCP server.
type shell struct {
	server   *mcpclient.Client
	out, err io.Writer
	timeout  time.Duration
	tools    []mcpclient.Tool
	history  []string
	failed   bool // the last command
}

var errQuit = errors.New("quit")

// start greets the server and lists its tools.
func (s *shell) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	who, err := s.server.Initialize(ctx)
	if err != nil {
		return err
	}
	if s.tools, err = s.server.Tools(ctx); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "tenon: %s %s, MCP %s, %s; help tells what to do\n", who.Name, who.Version, who.Revision, count(len(s.tools), "tool"))
	return nil
}

// run reads commands until there are no more. It fails where the last one did
// and nobody sat at a terminal to see it.
func (s *shell) run(ctx context.Context, in io.Reader) error {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return s.interact(ctx, f)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxArguments)
	for lines.Scan() {
		if s.execute(ctx, lines.Text()) {
			return failedIf(s.failed)
		}
	}
	return errors.Join(lines.Err(), failedIf(s.failed))
}

// interact reads commands from a terminal.
func (s *shell) interact(ctx context.Context, f *os.File) error {
	state, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(int(f.Fd()), state) }()
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{f, s.out}, "tenon> ")
	if width, height, err := term.GetSize(int(f.Fd())); err == nil {
		_ = t.SetSize(width, height)
	}
	s.out, s.err = t, t // it knows how lines end on a raw terminal
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' || pos != len(line) {
			return "", 0, false
		}
		full := s.complete(line)
		return full, len(full), full != line
	}
	for {
		line, err := t.ReadLine()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if s.execute(ctx, line) {
			return nil
		}
	}
}

// execute runs one line and reports whether it was the last.
func (s *shell) execute(ctx context.Context, line string) (last bool) {
	line = strings.TrimSpace(line)
	if n, err := strconv.Atoi(strings.TrimPrefix(line, "!")); err == nil && strings.HasPrefix(line, "!") && n >= 1 && n <= len(s.history) {
		line = s.history[n-1]
		fmt.Fprintln(s.err, line)
	}
	if line == "" {
		return false
	}
	if s.history = append(s.history, line); len(s.history) > maxHistory {
		s.history = s.history[1:]
	}
	err := s.command(ctx, line)
	s.failed = err != nil && !errors.Is(err, errQuit)
	if s.failed && !errors.Is(err, errToolFailed) {
		fmt.Fprintf(s.err, "tenon: %v\n", err)
	}
	return errors.Is(err, errQuit)
}

func (s *shell) command(ctx context.Context, line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "list", "ls":
		return s.list(ctx, rest)
	case "schema":
		return s.schema(rest)
	case "call":
		return s.call(ctx, rest)
	case "history":
		for i, l := range s.history {
			fmt.Fprintf(s.out, "%4d  %s\n", i+1, l)
		}
		return nil
	case "help", "?":
		fmt.Fprintln(s.out, "list [WORD...]\nschema TOOL\ncall TOOL [key=value... | {json}]\nhistory, !N\nquit")
		return nil
	case "quit", "exit":
		return errQuit
	}
	return fmt.Errorf("there is no command %q; help lists them", verb)
}

// list prints the tools as they are now.
func (s *shell) list(ctx context.Context, words string) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var err error
	if s.tools, err = s.server.Tools(ctx); err != nil {
		return err
	}
	for _, t := range s.tools {
		about, _, _ := strings.Cut(t.Description, "\n")
		if t.Title != "" {
			about = t.Title
		}
		line := t.Name + "  " + about
		if !slices.ContainsFunc(strings.Fields(strings.ToLower(words)), func(w string) bool { return !strings.Contains(strings.ToLower(line), w) }) {
			fmt.Fprintln(s.out, line)
		}
	}
	return nil
}

func (s *shell) find(name string) (*mcpclient.Tool, error) {
	for i := range s.tools {
		if s.tools[i].Name == name {
			return &s.tools[i], nil
		}
	}
	names := make([]string, len(s.tools))
	for i, t := range s.tools {
		names[i] = t.Name
	}
	near := suggest.Near(name, names, maxToolsSuggested)
	if near == nil {
		return nil, fmt.Errorf("there is no tool %q; list shows them", name)
	}
	return nil, fmt.Errorf("there is no tool %q%s", name, suggest.Question(near))
}

func (s *shell) schema(name string) error {
	t, err := s.find(name)
	if err != nil {
		return err
	}
	for _, one := range []struct {
		what   string
		schema []byte
	}{{"accepts", t.InputSchema}, {"answers", t.OutputSchema}} {
		if one.schema != nil {
			pretty, err := rawjson.AppendIndent(nil, one.schema, "  ")
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "%s %s\n", one.what, pretty)
		}
	}
	return nil
}

func (s *shell) call(ctx context.Context, rest string) error {
	name, given, _ := strings.Cut(rest, " ")
	t, err := s.find(name)
	if err != nil {
		return err
	}
	given = strings.TrimSpace(given)
	var args []byte
	if strings.HasPrefix(given, "{") {
		args, err = checkedObject([]byte(given))
	} else {
		var fields []string
		if fields, err = shellWords(given); err == nil {
			args, err = pairs(t.InputSchema, fields, nil)
		}
	}
	if err != nil {
		return err
	}
	ask := func(args []byte) (*tenon.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, s.timeout)
		defer cancel()
		return s.server.Call(ctx, &tenon.Call{Tool: name, Args: args})
	}
	first, err := ask(args)
	if err != nil {
		return err
	}
	return s.print(first, ask)
}

// print prints an answer with all of its parts.
func (s *shell) print(res *tenon.Result, ask func(args []byte) (*tenon.Result, error)) error {
	if res.Structured != nil {
		if err := s.printStructured(res, ask); err != nil {
			return err
		}
	}
	for _, c := range res.Content {
		switch c.Type {
		case tenon.TextContent:
			if res.Structured == nil {
				fmt.Fprintf(s.out, "%s\n", c.Text)
			}
		case tenon.EmbeddedResource:
			fmt.Fprintf(s.out, "resource %s\n%s\n", c.URI, c.Text)
		case tenon.ResourceLink:
			fmt.Fprintf(s.out, "link %s\n", c.URI)
		case tenon.ImageContent:
			fmt.Fprintf(s.out, "image %s, %d bytes\n", c.MediaType, len(c.Data))
		case tenon.AudioContent:
			fmt.Fprintf(s.out, "audio %s, %d bytes\n", c.MediaType, len(c.Data))
		}
	}
	if doc, err := rawjson.Parse(res.Meta); err == nil {
		if contract := doc.Get(doc.Root(), "tenon/contract"); contract != rawjson.None {
			fmt.Fprintf(s.err, "tenon: %s\n", doc.Raw(contract))
		}
	}
	if res.IsError {
		fmt.Fprintln(s.err, "tenon: the tool answered with an error")
		return errToolFailed
	}
	if res.Structured == nil && mcpclient.PartOf(res.Meta).Token != "" {
		return &mcpclient.IncompleteError{After: 1, Err: errors.New("texts are not put together; ask for the next part with resume_token")}
	}
	return nil
}

func (s *shell) printStructured(first *tenon.Result, ask func(args []byte) (*tenon.Result, error)) error {
	part := mcpclient.PartOf(first.Meta)
	if part.Token == "" {
		pretty, err := rawjson.AppendIndent(nil, first.Structured, "  ")
		if err == nil {
			_, err = fmt.Fprintf(s.out, "%s\n", pretty)
		}
		return err
	}
	j := &joiner{out: s.out, several: len(part.Cuts) > 0}
	err := mcpclient.Follow(first, ask, func(res *tenon.Result, here mcpclient.Part) error {
		doc, err := rawjson.Parse(res.Structured)
		if err != nil {
			return err
		}
		return j.add(res.Structured, valueIn(doc, doc.Get(doc.Root(), "status") != rawjson.None)+here.Cut, here)
	})
	if closing := j.close(); closing != nil {
		return closing
	}
	fmt.Fprintln(s.out)
	return err
}

// shellWords splits a line where blanks stand outside of quotes.
func shellWords(line string) (all []string, err error) {
	var word strings.Builder
	var quote rune
	some := false
	for _, r := range line {
		switch {
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, some = r, true
		case r == ' ' || r == '\t':
			if some {
				all = append(all, word.String())
				word.Reset()
			}
			some = false
		default:
			word.WriteRune(r)
			some = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if some {
		all = append(all, word.String())
	}
	return all, nil
}

// complete writes on a line what can only go on in one way.
func (s *shell) complete(line string) string {
	i := strings.LastIndexByte(line, ' ') + 1
	words := strings.Fields(line[:i])
	var choices []string
	switch {
	case len(words) == 0:
		choices = []string{"list ", "schema ", "call ", "history", "help", "quit"}
	case len(words) == 1 && (words[0] == "call" || words[0] == "schema"):
		for _, t := range s.tools {
			choices = append(choices, t.Name+" ")
		}
	case words[0] == "call":
		if t, err := s.find(words[1]); err == nil {
			choices = argumentWords(t.InputSchema)
		}
	}
	return line[:i] + shared(choices, line[i:])
}

// shared is the beginning that all choices share that begin with word.
func shared(choices []string, word string) string {
	found := ""
	for _, c := range choices {
		switch {
		case !strings.HasPrefix(c, word):
		case found == "":
			found = c
		default:
			n := 0
			for n < len(c) && n < len(found) && c[n] == found[n] {
				n++
			}
			found = found[:n]
		}
	}
	if found == "" {
		return word
	}
	return found
}
