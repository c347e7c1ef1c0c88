package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/clientconfig"
	"github.com/tenon-mcp/tenon/internal/mcpb"
)

// maxToolText is how much of the description of a tool a bundle says, in bytes.
const maxToolText = 300

// bundling is what bundle was asked for.
type bundling struct {
	env env

	output, name, version, author, about string
	binaries, credentials                []string
	entry                                string
	listing                              mcpb.Listing
	asJSON                               bool
}

func bundleCommand(e env) *cobra.Command {
	b := bundling{env: e}
	cmd := &cobra.Command{
		Use:   "bundle SPEC [-- FLAGS]",
		Short: "Make an MCP bundle of a description, for desktop clients and the MCP registry",
		Long: `Write an MCP bundle (.mcpb): a file that a person opens with Claude Desktop or
another host, which then has the tools of the description. It holds tenon, the
description with all files that it is read from, and the command line
'tenon serve FLAGS SPEC'. Data of schema files and bundled libraries are not in it.

The host asks its user for the credentials that the description needs, keeps them,
and hands them over in the environment; no credential of this machine is in the
bundle, and flags that name one are refused.

A bundle has a binary for each operating system: this tenon, or those that
--binary names. Hosts do not tell processors from each other, so that a bundle for
another processor is another bundle. The same input gives the same bytes.

--server-json writes the entry of the MCP registry beside it.

Exit 2: a flag is wrong. Exit 3: the description cannot be read.`,
		Example: `  tenon bundle petstore.yaml
  tenon bundle -o petstore.mcpb --author 'Pet Store Ltd' petstore.yaml -- --read-only
  tenon bundle --binary darwin/arm64=dist/mac/tenon --binary windows/amd64=dist/win/tenon.exe petstore.yaml
  tenon bundle --server-json server.json --id io.github.me/petstore \
    --url https://github.com/me/petstore/releases/download/v1.2.3/petstore.mcpb petstore.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			plain := len(args)
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				plain = at
			}
			switch {
			case plain == 0:
				return usagef("bundle needs a SPEC: a file, a directory or an https URL")
			case plain > 1:
				return usagef("bundle takes one SPEC; flags of serve stand behind --")
			case (b.entry == "") != (b.listing.ID == "") || (b.entry == "") != (b.listing.URL == ""):
				return usagef("--server-json, --id and --url belong together")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return b.write(cmd.Context(), args[0], args[1:]) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&b.output, "output", "o", "", "write the bundle to this file (default: NAME-VERSION.mcpb)")
	fs.StringVar(&b.name, "name", "", "name of the bundle (default: from the title of the description)")
	fs.StringVar(&b.version, "version", "", "version of the bundle (default: that of the description)")
	fs.StringVar(&b.author, "author", "", "who made it (default: the title of the description)")
	fs.StringVar(&b.about, "about", "", "what it is for, in a sentence (default: from the description)")
	fs.StringArrayVar(&b.binaries, "binary", nil, "a tenon for a system, as GOOS/GOARCH=PATH (repeatable; default: this one for this system)")
	fs.StringArrayVar(&b.credentials, "credential", nil, "what is asked for a security scheme: SCHEME=value (default; for OAuth an access token), SCHEME=client for ID:SECRET of a client, or SCHEME=none to call without it (repeatable)")
	fs.StringVar(&b.entry, "server-json", "", "write an entry for the MCP registry to this file; needs --id and --url")
	fs.StringVar(&b.listing.ID, "id", "", "name in the registry, such as io.github.me/petstore")
	fs.StringVar(&b.listing.URL, "url", "", "where the bundle will be: a release at github.com or gitlab.com")
	fs.BoolVar(&b.asJSON, "json", false, "print what was made as JSON")
	return cmd
}

// bundled is the report of bundle.
type bundled struct {
	File        string           `json:"file"`
	Name        string           `json:"name"`
	Version     string           `json:"version"`
	Bytes       int64            `json:"bytes"`
	Sum         string           `json:"digest"`
	Tools       int              `json:"tool_count"`
	Credentials []keptCredential `json:"credentials"`
}

func (b *bundling) write(ctx context.Context, spec string, flags []string) error {
	if b.entry != "" {
		if err := b.listing.Check(); err != nil {
			return usagef("%v", err)
		}
	}
	line, err := readServeLine(ctx, b.env, spec, flags)
	if err != nil {
		return err
	}
	defer line.app.Close()
	platforms, files, err := b.platforms()
	if err != nil {
		return err
	}
	packed, err := packDescription(line)
	if err != nil {
		return err
	}
	secrets, args, err := b.secrets(line)
	if err != nil {
		return err
	}
	args = append(append([]string{"serve"}, args...), packed.args...)
	m := b.manifest(line)
	if err := m.Start(platforms, args); err != nil {
		return usagef("%v", err)
	}
	if err := m.Ask(secrets); err != nil {
		return usagef("%v; --credential SCHEME=none leaves one out", err)
	}
	done := bundled{File: cmp.Or(b.output, m.Name+"-"+m.Release+".mcpb"), Name: m.Name, Version: m.Release, Tools: line.tools, Credentials: []keptCredential{}}
	for _, s := range secrets {
		done.Credentials = append(done.Credentials, keptCredential{Name: s.Title})
	}
	var bundle bytes.Buffer
	if err := mcpb.Write(&bundle, m, append(files, packed.files...)); err != nil {
		return err
	}
	if err := atomicfile.Overwrite(done.File, bundle.Bytes()); err != nil {
		return err
	}
	if done.Sum, done.Bytes, err = mcpb.Sum(done.File); err != nil {
		return err
	}
	b.listing.Sum = done.Sum
	if b.entry != "" {
		text, err := m.Entry(&b.listing, secrets)
		if err == nil {
			err = atomicfile.Overwrite(b.entry, text)
		}
		if err != nil {
			return err
		}
	}
	return b.tell(done, m)
}

// tell prints what was made.
func (b *bundling) tell(done bundled, m *mcpb.Manifest) error {
	if b.asJSON {
		return printJSON(b.env.out, done)
	}
	fmt.Fprintf(b.env.out, "%s: %s %s for %s, with %s\n  %d bytes, sha256 %s\n",
		done.File, done.Name, done.Version, strings.Join(m.Compatibility.Platforms, ", "), count(done.Tools, "tool"), done.Bytes, done.Sum)
	for _, c := range done.Credentials {
		fmt.Fprintf(b.env.out, "  asks for %s\n", c.Name)
	}
	if b.entry != "" {
		fmt.Fprintf(b.env.out, "%s: %s in the MCP registry\n", b.entry, b.listing.ID)
	}
	return nil
}

// manifest says what the bundle is.
func (b *bundling) manifest(line *serveLine) *mcpb.Manifest {
	about, version := "", ""
	for _, s := range line.app.Sources() {
		if source, ok := s.Source.(interface {
			Identity() (name, version, instructions string)
		}); ok && len(line.app.Sources()) == 1 {
			_, version, about = source.Identity()
		}
	}
	m := &mcpb.Manifest{
		Name: cmp.Or(b.name, clientconfig.ServerName(line.title)), Title: mcpb.Clipped(line.title, maxToolText), Release: mcpb.Release(cmp.Or(b.version, version)),
		Description: mcpb.Clipped(cmp.Or(b.about, about, "Tools of "+line.title), maxToolText), Author: mcpb.Author{Name: cmp.Or(b.author, line.title)},
	}
	for _, t := range line.app.Gateway.Catalog().Tools() {
		m.Tools = append(m.Tools, mcpb.Tool{Name: t.Name(), Description: mcpb.Clipped(t.Tool().Description, maxToolText)})
	}
	return m
}

// platforms are the binaries of the bundle.
func (b *bundling) platforms() (platforms []mcpb.Platform, files []mcpb.File, err error) {
	type given struct{ system, path string }
	var all []given
	for _, flag := range b.binaries {
		system, file, ok := strings.Cut(flag, "=")
		if !ok || strings.Count(system, "/") != 1 || file == "" {
			return nil, nil, usagef("--binary wants GOOS/GOARCH=PATH, not %q", clipped(flag))
		}
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return nil, nil, usagef("--binary %s is no tenon: %v", system, err)
		}
		if is := systemOf(info); info.Path != ownPath || is != system {
			return nil, nil, usagef("--binary %s: %s is %s for %s", system, file, info.Path, is)
		}
		all = append(all, given{system, file})
	}
	if all == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, nil, err
		}
		all = append(all, given{runtime.GOOS + "/" + runtime.GOARCH, self})
	}
	for _, g := range all {
		system, _, _ := strings.Cut(g.system, "/")
		name := "server/tenon"
		if len(all) > 1 {
			name = "server/" + system + "/tenon"
		}
		if system == "windows" {
			name += ".exe"
		}
		platforms = append(platforms, mcpb.Platform{OS: system, Binary: name})
		files = append(files, mcpb.File{Name: name, Path: g.path, Executable: true})
	}
	return platforms, files, nil
}

const ownPath = "github.com/tenon-mcp/tenon/cmd/tenon"

// systemOf is for which system a program was built.
func systemOf(info *debug.BuildInfo) string {
	value := func(key string) string {
		at := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
		if at < 0 {
			return ""
		}
		return info.Settings[at].Value
	}
	return value("GOOS") + "/" + value("GOARCH")
}

// secrets are the questions for the user, and the flags by which the server reads
// the answers.
func (b *bundling) secrets(line *serveLine) (secrets []mcpb.Secret, args []string, err error) {
	chosen := map[string]string{}
	for _, flag := range b.credentials {
		name, kind, _ := strings.Cut(flag, "=")
		known := slices.ContainsFunc(line.needs, func(n need) bool { return n.name == name && (n.flag == "auth" || kind == "value") })
		if !known || kind != "value" && kind != "client" && kind != "none" {
			return nil, nil, usagef("--credential wants SCHEME=value, SCHEME=client or SCHEME=none for one of the credentials that the description needs")
		}
		chosen[name] = kind
	}
	for _, n := range line.needs {
		kind := cmp.Or(chosen[n.name], "value")
		if line.given[n.name] {
			continue
		}
		if kind == "none" {
			args = append(args, "--"+n.flag+"="+n.name+"=none")
			continue
		}
		what := n.what
		switch {
		case kind == "client":
			what = "The client, as ID:SECRET. " + what
		case n.oauth:
			what = "An access token. " + what
		}
		s := mcpb.SecretOf(n.name, mcpb.Clipped(what, maxToolText), n.always)
		place := "env:" + s.Variable
		if kind == "client" {
			place = "oauth2:" + place
		}
		if !n.always {
			place = "optional:" + place
		}
		secrets = append(secrets, s)
		args = append(args, "--"+n.flag+"="+n.name+"="+place)
	}
	return secrets, args, nil
}

// packing is a description with its files as it is in a bundle.
type packing struct {
	files []mcpb.File
	args  []string // flags and SPEC
}

// descriptionDir is the folder of a bundle in which the description is.
const descriptionDir = "api"

// packDescription finds the files that the description is read from, and rewrites
// the command line to where they are in a bundle.
func packDescription(line *serveLine) (*packing, error) {
	files, err := filesOf(line)
	if err != nil {
		return nil, err
	}
	p := &packing{}
	root := commonDir(files)
	for _, file := range files {
		p.files = append(p.files, mcpb.File{Name: path.Join(descriptionDir, filepath.ToSlash(strings.TrimPrefix(file, root))), Path: file})
	}
	slices.SortFunc(p.files, func(a, b mcpb.File) int { return cmp.Compare(a.Name, b.Name) })
	for _, flag := range line.flags {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		inside, err := insideBundle(name, value, root, files)
		if err != nil {
			return nil, err
		}
		p.args = append(p.args, "--"+name+"="+inside)
	}
	name, where, named := strings.Cut(line.spec, "=")
	if !named || strings.ContainsAny(name, "/:.\\") {
		name, where = "", line.spec
	} else {
		name += "="
	}
	if !strings.Contains(where, "://") {
		place, ok := placeIn(where, root, files)
		if !ok {
			return nil, usagef("no file of %s is read", where)
		}
		where = place
	}
	p.args = append(p.args, name+where)
	return p, nil
}

// filesOf are the files that the description is read from, absolute.
func filesOf(line *serveLine) (files []string, err error) {
	// Files to which only schemas refer are read when these are converted.
	for _, t := range line.app.Gateway.Catalog().Tools() {
		t.Diagnostics()
	}
	for _, s := range line.app.Sources() {
		source, ok := s.Source.(interface{ Files() []string })
		if !ok {
			return nil, usagef("%s is a function app; bundles are for OpenAPI documents and schema files", s.Name)
		}
		for _, file := range source.Files() {
			absolute, err := filepath.Abs(file)
			if err != nil {
				return nil, err
			}
			if info, err := os.Stat(absolute); err == nil && info.Mode().IsRegular() && !slices.Contains(files, absolute) {
				files = append(files, absolute)
			}
		}
	}
	return files, nil
}
