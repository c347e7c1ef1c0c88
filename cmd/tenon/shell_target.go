package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/mcpclient"
	"github.com/tenon-mcp/tenon/internal/proc"
)

// shellTarget is whom a shell speaks to.
type shellTarget struct {
	url   string
	stdio bool
	env   []string

	noSpec error // why the URL in url is no description; nil: nobody took it for one
}

// open reaches the server, or makes one of descriptions.
func (t *shellTarget) open(ctx context.Context, e env, sources *sources, args []string) (*mcpclient.Client, error) {
	switch {
	case t.url != "" && (t.stdio || len(args) > 0):
		return nil, usagef("--url stands alone: no SPEC, no command")
	case t.url != "":
		return t.reach(sources, e)
	case len(args) == 0:
		return nil, usagef("shell needs a SPEC, --url URL, or --stdio -- COMMAND")
	case t.stdio:
		return t.start(e, args)
	}
	w, err := sources.connect(ctx, e, args)
	if err != nil {
		if err := t.otherwise(ctx, sources, args, err); err != nil {
			return nil, err
		}
		return t.reach(sources, e)
	}
	return within(ctx, w), nil
}

// within speaks to a server of this process, and closes what it serves with the
// conversation.
func within(ctx context.Context, w *app.App) *mcpclient.Client {
	ctx, cancel := context.WithCancel(ctx)
	theirs, mine := io.Pipe()
	fromThem, toMe := io.Pipe()
	go func() {
		err := w.Server.ServeStdio(ctx, theirs, toMe)
		_ = toMe.CloseWithError(errors.Join(err, io.EOF))
	}()
	return mcpclient.OverPipes(mine, fromThem, func() {
		cancel()
		_ = mine.Close()
		_ = fromThem.Close()
		w.Close()
	}, shellItself())
}

// otherwise takes the only SPEC for the URL of a server, since it is no description
// for the reason noSpec; an error is why it cannot be one.
func (t *shellTarget) otherwise(ctx context.Context, sources *sources, args []string, noSpec error) error {
	if len(args) != 1 || tenon.CodeOf(noSpec) == tenon.CodeUsage || ctx.Err() != nil {
		return noSpec
	}
	_, where := app.SplitSpec(args[0])
	if !isWebURL(where) {
		return noSpec
	}
	if len(sources.config.Defaults.Header) > 0 { // they are for the API, whose host that need not be
		return fmt.Errorf("%w; if an MCP server is there, name it with --url, so that --header is sent to it", noSpec)
	}
	t.url, t.noSpec = where, noSpec
	return nil
}

// start starts a server that is spoken to on its input and output.
func (t *shellTarget) start(e env, args []string) (*mcpclient.Client, error) {
	c := proc.Command{Path: args[0], Args: args[1:]}
	for _, name := range append([]string{"PATH", "HOME", "USER", "LANG", "TMPDIR", "APPDATA", "SYSTEMROOT"}, t.env...) {
		if v, ok := e.getenv(name); ok {
			c.Env = append(c.Env, name+"="+v)
		}
	}
	return mcpclient.Start(c, shellItself())
}

// reach prepares a conversation over HTTP.
func (t *shellTarget) reach(sources *sources, e env) (*mcpclient.Client, error) {
	header, err := app.ParseHeaders(sources.config.Defaults.Header, e.getenv)
	if err != nil {
		return nil, err
	}
	allowed := sources.config.Defaults.AllowPrivateHost
	if u, err := url.Parse(t.url); err == nil && u.Host != "" {
		allowed = append(slices.Clip(allowed), u.Host) // who names a server wants that one
	}
	client, err := egress.NewClient(egress.Options{AllowHosts: allowed})
	if err != nil {
		return nil, usagef("--allow-private-host: %v", err)
	}
	return mcpclient.OverHTTP(t.url, client, header, shellItself()), nil
}

// commandWords splits a command as a shell does: at white space, but not within
// quotes or behind a backslash. Nothing in it is replaced.
func commandWords(line string) (words []string, err error) {
	var word strings.Builder
	quote, begun := rune(0), false
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case quote == 0 && unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
			continue
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case r == '\\' && quote != '\'' && i+1 < len(runes):
			i++
			word.WriteRune(runes[i])
		default:
			word.WriteRune(r)
		}
		begun = true
	}
	if begun {
		words = append(words, word.String())
	}
	switch {
	case quote != 0:
		return nil, usagef("--command: the quote %c is not closed", quote)
	case len(words) == 0:
		return nil, usagef("--command names no command")
	}
	return words, nil
}

// isWebURL reports whether a SPEC is fetched.
func isWebURL(where string) bool {
	u, err := url.Parse(where)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// failed is why nobody could be spoken to, err being the last attempt.
func (t *shellTarget) failed(err error) error {
	if t.noSpec == nil {
		return err
	}
	return fmt.Errorf("%w; it is no MCP server either: %w", t.noSpec, err)
}

// shellItself is what a server is told of the shell.
func shellItself() mcpclient.Options {
	return mcpclient.Options{Name: "tenon-shell", Version: app.Version()}
}
