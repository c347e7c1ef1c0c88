package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/openapi"
)

// serveLine is a command line of serve that works in any directory, and what its
// description needs.
type serveLine struct {
	spec  string   // absolute, or a URL
	flags []string // --NAME=VALUE
	title string
	tools int
	needs []need
	given map[string]bool // credentials that the flags name
	app   *app.App        // to be closed
}

// need is a credential that a description needs.
type need struct {
	name   string // of the scheme, with its source where there are several; or of the server parameter
	flag   string // auth or server-param
	what   string // for people
	oauth  bool
	always bool // some tools cannot be called without it
}

// readServeLine reads the flags that stand behind -- and the description.
func readServeLine(ctx context.Context, e env, spec string, flags []string) (*serveLine, error) {
	s := serving{}
	scratch := &cobra.Command{Use: "serve"}
	s.register(scratch)
	scratch.SetFlagErrorFunc(flagProblem)
	if err := scratch.ParseFlags(flags); err != nil {
		return nil, flagProblem(scratch, err)
	}
	fs := scratch.Flags()
	switch {
	case fs.NArg() > 0:
		return nil, usagef("behind -- stand flags of serve, not %q", clipped(fs.Arg(0)))
	case fs.Changed("http"):
		return nil, usagef("--http is not for servers that a client starts: they speak on standard input and output")
	}
	for _, check := range []func() error{
		func() error { return noSecrets(fs) }, func() error { return knownWords(scratch) }, func() error { return namedFiles(fs) },
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	line := &serveLine{spec: absoluteSpec(spec), given: map[string]bool{}}
	if strings.Contains(line.spec, "://") && strings.Contains(strings.SplitN(line.spec, "/", 4)[2], "@") {
		return nil, usagef("the URL has a password, which would be in the client's file")
	}
	var err error
	if line.flags, err = absoluteFlags(fs); err != nil {
		return nil, err
	}
	for _, word := range append(slices.Clone(line.flags), line.spec) {
		if strings.Contains(word, "${") || strings.ContainsRune(word, 0) {
			name, _, _ := strings.Cut(word, "=")
			return nil, usagef("%s has ${, which clients replace by themselves; put it into a config file and pass --config", name)
		}
	}
	for _, values := range [][]string{s.config.Defaults.Auth, s.config.Defaults.ServerParam} {
		for _, v := range values {
			name, _, _ := strings.Cut(v, "=")
			line.given[name] = true
		}
	}
	if err := s.plan(scratch, []string{line.spec}); err != nil {
		return nil, err
	}
	s.level, s.onDemand, s.dry = slog.LevelError, true, true
	a, err := s.start(ctx, e)
	if err != nil {
		return nil, err
	}
	report(e.err, a, false)
	warnOfPrivate(e.err, a, fs)
	name, _ := app.SplitSpec(line.spec)
	line.app, line.title, line.tools = a, cmp.Or(s.config.Name, a.Titles(), name), app.Described(a.Gateway.Catalog())
	line.needs = needsOf(a)
	if line.tools == 0 && len(line.needs) == 0 {
		a.Close()
		return nil, usagef("there is no tool to serve; 'tenon check' says why")
	}
	return line, nil
}

// warnOfPrivate says how to allow hosts that would be refused with the first call.
func warnOfPrivate(w io.Writer, a *app.App, fs *pflag.FlagSet) {
	if fs.Changed("allow-private-host") || fs.Changed(configFlag) {
		return
	}
	for _, host := range privateHosts(a, fs.Lookup("base-url").Value.String()) {
		fmt.Fprintf(w, "tenon: calls to %s will be refused, for it is on this machine or network; append -- --allow-private-host %s\n", host, host)
	}
}

// privateHosts are the hosts of APIs whose addresses are seen to be private without
// asking for them. baseURL is in place of what the documents say.
func privateHosts(a *app.App, baseURL string) (all []string) {
	for _, s := range a.Sources() {
		source, ok := s.Source.(*openapi.Source)
		if !ok {
			continue
		}
		u, err := url.Parse(cmp.Or(baseURL, source.Access().BaseURL))
		if err != nil || u.Host == "" || slices.Contains(all, u.Host) {
			continue
		}
		ip := net.ParseIP(u.Hostname())
		if strings.EqualFold(u.Hostname(), "localhost") || ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() {
			all = append(all, u.Host)
		}
	}
	return all
}

// needsOf are the credentials that the descriptions need.
func needsOf(a *app.App) (all []need) {
	for _, s := range a.Sources() {
		switch source := s.Source.(type) {
		case *openapi.Source:
			prefix := ""
			if len(a.Sources()) > 1 {
				prefix = s.Name + "/"
			}
			all = append(all, schemesOf(source, prefix)...)
		case *flowmcp.Source:
			for _, name := range source.ServerParams() {
				if !slices.ContainsFunc(all, func(n need) bool { return n.name == name }) {
					all = append(all, need{name: name, flag: "server-param", what: "server parameter", always: len(source.Files()) == 1})
				}
			}
		}
	}
	return all
}

// schemesOf are the security schemes that a document needs. prefix precedes their
// names.
func schemesOf(source *openapi.Source, prefix string) (all []need) {
	for _, scheme := range source.Access().Schemes {
		if !scheme.Supported {
			continue
		}
		n := need{name: prefix + scheme.Name, flag: "auth", what: scheme.Kind, oauth: scheme.OAuth, always: scheme.Always}
		if scheme.Description != "" {
			n.what += ". " + scheme.Description
		}
		all = append(all, n)
	}
	return all
}

// absoluteSpec is a SPEC that means the same in any directory.
func absoluteSpec(spec string) string {
	name, where := app.SplitSpec(spec)
	if strings.Contains(where, "://") {
		return spec
	}
	absolute, err := filepath.Abs(where)
	if err != nil {
		return spec
	}
	if where != spec {
		return name + "=" + absolute
	}
	return absolute
}

// absoluteFlags are the flags that were given, as --NAME=VALUE, with absolute paths.
func absoluteFlags(fs *pflag.FlagSet) ([]string, error) {
	here, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	var all []string
	fs.Visit(func(f *pflag.Flag) {
		var values []string
		switch v := f.Value.(type) {
		case *app.PerTool:
			if v.All != f.DefValue {
				values = append(values, v.All)
			}
			for _, t := range v.Tools {
				values = append(values, t.Pattern+"="+t.Value)
			}
		case pflag.SliceValue:
			values = v.GetSlice()
		default:
			values = []string{v.String()}
		}
		for _, value := range values {
			if setting, ok := app.Find(f.Name); ok {
				value = setting.Beside(here, value)
			}
			if f.Name == configFlag {
				value, _ = filepath.Abs(value) // as here, which is known
			}
			all = append(all, "--"+f.Name+"="+value)
		}
	})
	return all, nil
}
