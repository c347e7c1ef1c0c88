package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/internal/clientconfig"
	"github.com/tenon-mcp/tenon/internal/keyring"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// installing is what install was asked for.
type installing struct {
	env env

	client *clientconfig.Client
	scope  string
	name   string
	binary string

	given         []string // SCHEME=WHERE
	noCredentials bool
	store         string

	dry, remove, list, asJSON bool
}

func installCommand(e env) *cobra.Command {
	in := installing{env: e}
	cmd := &cobra.Command{
		Use:   "install CLIENT SPEC [-- FLAGS]",
		Short: "Add a description to an MCP client, with its credentials",
		Long: `Add a server to the configuration of an MCP client that serves a description:
the client then starts 'tenon serve SPEC FLAGS'. CLIENT is claude-desktop,
claude-code, cursor, vscode, codex or gemini-cli. Paths become absolute, and the
description is read first, so that what cannot be served is not installed.

Everything else in the client's file stays as it is: comments, order,
indentation. What it was is beside it as FILE.tenon-backup. A file that is broken
is not touched. A link is followed, and its target edited.

Credentials that the description needs (its security schemes, or the server
parameters of schema files) are asked for on a terminal, without echo, and kept in
the keyring of the system, or where there is none in a file that only you can
read. They are never in the client's file, which only names the place. Elsewhere
--credential says where each is to be taken from, once, now.

--remove takes the server away again, with the credentials that were kept for it.

Exit 1: the client's file cannot be edited. Exit 2: a flag is wrong, or a
credential is missing. Exit 3: the description cannot be read.`,
		Example: `  tenon install claude-desktop petstore.yaml
  tenon install cursor https://api.example.com/openapi.json --dry-run
  tenon install claude-code --scope project api.yaml -- --read-only --include tag:pets
  tenon install codex --credential api_key=env:PETSTORE_KEY petstore.yaml
  tenon install cursor --remove petstore
  tenon install --list`,
		Args: func(cmd *cobra.Command, args []string) error { return in.check(cmd, args) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return clientconfig.Names(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case in.list:
				return in.printInstalled()
			case in.remove:
				return in.uninstall(args[1])
			}
			return in.install(cmd.Context(), args[1], args[2:])
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&in.scope, "scope", "user", "for which work the client gets the server: user (all), or project (this folder)")
	takes(cmd, "scope", "user", "project")
	fs.StringVar(&in.name, "name", "", "name of the server in the client (default: from the title of the description)")
	fs.StringVar(&in.binary, "binary", "", "the tenon that the client starts (default: this one)")
	fs.StringArrayVar(&in.given, "credential", nil, "take a credential from here and keep it: SCHEME=env:VAR or SCHEME=file:PATH, oauth2: before it for a client ID:SECRET, or SCHEME=none to call without it (repeatable)")
	fs.BoolVar(&in.noCredentials, "no-credentials", false, "install without the credentials that are not given")
	fs.StringVar(&in.store, "store", "auto", "where credentials are kept: auto (the keyring, or a file if there is none), keyring or file")
	takes(cmd, "store", "auto", "keyring", "file")
	fs.BoolVar(&in.dry, "dry-run", false, "show what would change in the client's file, and change nothing")
	fs.BoolVar(&in.remove, "remove", false, "remove a server: tenon install --remove CLIENT NAME")
	fs.BoolVar(&in.list, "list", false, "list the servers that tenon has in the files of all clients")
	fs.BoolVar(&in.asJSON, "json", false, "print what was done as JSON")
	return cmd
}

// check reads the arguments before the flags of serve.
func (in *installing) check(cmd *cobra.Command, args []string) error {
	plain := len(args)
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		plain = at
	}
	if in.list {
		if len(args) > 0 {
			return usagef("--list takes no arguments: it lists all clients")
		}
		return nil
	}
	if plain == 0 {
		return usagef("install needs a CLIENT: %s", strings.Join(clientconfig.Names(), ", "))
	}
	if in.client = clientconfig.Find(args[0]); in.client == nil {
		near := suggest.Near(args[0], clientconfig.Names(), maxSuggested)
		if near == nil {
			return usagef("there is no client %q; known are %s", clipped(args[0]), strings.Join(clientconfig.Names(), ", "))
		}
		return usagef("there is no client %q%s", clipped(args[0]), suggest.Question(near))
	}
	switch {
	case in.remove && len(args) != 2:
		return usagef("--remove needs a CLIENT and the NAME of a server; 'tenon install --list' lists them")
	case plain < 2:
		return usagef("install needs a SPEC after the client: a file or an https URL")
	case plain > 2:
		return usagef("install takes one SPEC; flags of serve stand behind --")
	}
	if in.name != "" {
		if err := clientconfig.CheckName(in.name); err != nil {
			return usagef("--name: %v", err)
		}
	}
	return nil
}

// installed is the report of install.
type installed struct {
	Client      string           `json:"client"`
	Scope       string           `json:"scope"`
	File        string           `json:"file"`
	Name        string           `json:"name"`
	Command     string           `json:"command"`
	Args        []string         `json:"args"`
	Credentials []keptCredential `json:"credentials"`
	Changed     bool             `json:"changed"`
	DryRun      bool             `json:"dry_run,omitempty"`
	Removed     bool             `json:"removed,omitempty"`
	Tools       int              `json:"tool_count,omitempty"`
}

// system is what the places of files depend on.
func (in *installing) system() (clientconfig.System, error) {
	dir, err := filepath.Abs(".")
	return clientconfig.System{OS: runtime.GOOS, Getenv: in.env.getenv, Dir: dir}, err
}

// file is the client's.
func (in *installing) file() (string, error) {
	s, err := in.system()
	if err != nil {
		return "", err
	}
	file, err := in.client.File(clientconfig.Scope(in.scope), s)
	if err != nil {
		return "", usagef("%v", err)
	}
	return file, nil
}

// places are where credentials are kept.
func (in *installing) places() (keyring.Places, error) {
	dir := app.UserDir(app.Env{Getenv: in.env.getenv}, "credentials")
	if dir == "" {
		return keyring.Places{}, nil // there is only the keyring
	}
	dir, err := filepath.Abs(dir)
	return keyring.Places{Dir: dir}, err
}

// prefix begins the names of the credentials of a server: every server has its own,
// so that removing one leaves those of the others.
func (in *installing) prefix(file, server string) string {
	if in.scope == string(clientconfig.Project) {
		sum := sha256.Sum256([]byte(file))
		server += "@" + hex.EncodeToString(sum[:4])
	}
	return keyring.Name(in.client.Name, server)
}

func (in *installing) install(ctx context.Context, spec string, flags []string) error {
	file, err := in.file()
	if err != nil {
		return err
	}
	words, err := in.command()
	if err != nil {
		return err
	}
	line, err := readServeLine(ctx, in.env, spec, flags)
	if err != nil {
		return err
	}
	defer line.app.Close()
	name := in.name
	if name == "" {
		name = clientconfig.ServerName(line.title)
	}
	plan, err := in.planCredentials(file, name, line)
	if err != nil {
		return err
	}
	server := clientconfig.Server{Name: name, Command: words[0], Args: slices.Concat(words[1:], []string{"serve"}, plan.args(), line.flags, []string{line.spec})}
	// What cannot be edited is told before anything is stored.
	edit, err := in.client.PlanAdd(file, &server)
	if err != nil {
		return err
	}
	if !in.dry {
		if err := plan.save(keyring.Kind(in.store)); err != nil {
			return err
		}
		server.Args = slices.Concat(words[1:], []string{"serve"}, plan.args(), line.flags, []string{line.spec})
		if edit, err = in.client.PlanAdd(file, &server); err == nil {
			err = edit.Write()
		}
		if err != nil {
			return errors.Join(err, plan.undo())
		}
	}
	return in.tell(installed{Credentials: plan.kept(), Changed: edit.Changes(), DryRun: in.dry, Tools: line.tools}, edit, plan.notes)
}

// command is how the client starts tenon.
func (in *installing) command() ([]string, error) {
	if in.binary != "" {
		file, err := filepath.Abs(in.binary)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			return nil, usagef("--binary %s is not a file", in.binary)
		}
		return []string{file}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("it is not known which program this is; name one with --binary: %w", err)
	}
	target, err := filepath.EvalSymlinks(self)
	if err != nil {
		return nil, err
	}
	s, err := in.system()
	if err != nil {
		return nil, err
	}
	words, err := clientconfig.Command(target, os.TempDir(), s)
	if err == nil && words[0] == target && target != self {
		// A link stays where its target changes with each version.
		if _, wrong := clientconfig.Command(self, os.TempDir(), s); wrong == nil {
			words[0] = self
		}
	}
	return words, err
}

// tell prints what was done.
func (in *installing) tell(done installed, edit *clientconfig.Edit, notes []string) error {
	done.Client, done.Scope, done.File = in.client.Name, in.scope, edit.File
	done.Name, done.Command, done.Args = edit.Server.Name, edit.Server.Command, edit.Server.Args
	for _, note := range notes {
		fmt.Fprintln(in.env.err, "tenon: "+note)
	}
	if in.asJSON {
		return printJSON(in.env.out, done)
	}
	switch {
	case !done.Changed:
		fmt.Fprintf(in.env.out, "%s has the server %s already (%s)\n", in.client.Title, done.Name, done.File)
	case in.dry:
		fmt.Fprint(in.env.out, edit.Difference())
	case done.Removed:
		fmt.Fprintf(in.env.out, "%s: the server %s is removed (%s)\n", in.client.Title, done.Name, done.File)
	default:
		fmt.Fprintf(in.env.out, "%s: the server %s is added, with %s (%s)\n", in.client.Title, done.Name, count(done.Tools, "tool"), done.File)
	}
	for _, c := range done.Credentials {
		if c.Place != "" {
			fmt.Fprintf(in.env.out, "  credential %s: %s\n", c.Name, in.place(done.Removed, c.Place))
		}
	}
	switch {
	case in.dry || !done.Changed:
	case done.Removed:
		fmt.Fprintf(in.env.out, "A %s that runs keeps it until it is restarted.\n", in.client.Title)
	default:
		fmt.Fprintf(in.env.out, "To see it: %s.\n", in.client.After)
	}
	return nil
}

// place says what becomes of a credential.
func (in *installing) place(removed bool, place string) string {
	switch {
	case removed && in.dry:
		return "deleted, too, from " + place
	case removed:
		return "deleted from " + place
	case in.dry && in.store == string(keyring.Auto) && strings.HasPrefix(place, "keyring:"):
		return place + ", or a file if no keyring answers"
	}
	return place
}

// uninstall removes a server, which is named, or named by its description.
func (in *installing) uninstall(what string) error {
	file, err := in.file()
	if err != nil {
		return err
	}
	name, err := in.installedName(file, what)
	if err != nil {
		return err
	}
	edit, err := in.client.PlanRemove(file, name)
	if err != nil {
		return err
	}
	places, err := in.places()
	if err != nil {
		return err
	}
	if !in.dry {
		if err := edit.Write(); err != nil {
			return err
		}
	}
	done := installed{Changed: true, Removed: true, DryRun: in.dry, Credentials: []keptCredential{}}
	for _, c := range credentialsIn(edit.Server.Args) {
		if !places.Made(c.Place, in.prefix(file, name)) {
			continue // somebody else's
		}
		if !in.dry {
			if err := places.Remove(c.Place); err != nil {
				return fmt.Errorf("the server is removed, its credential %s is not: %w", c.Place, err)
			}
		}
		done.Credentials = append(done.Credentials, c)
	}
	return in.tell(done, edit, nil)
}

// installedName is the name of the server that what names.
func (in *installing) installedName(file, what string) (string, error) {
	all, err := in.client.Installed(file)
	if err != nil {
		return "", err
	}
	var names []string
	for _, s := range all {
		if s.Name == what {
			return what, nil
		}
		if len(s.Args) > 0 && s.Args[len(s.Args)-1] == absoluteSpec(what) {
			names = append(names, s.Name)
		}
	}
	switch len(names) {
	case 0:
		return what, nil // which is told to be none, or somebody else's
	case 1:
		return names[0], nil
	}
	return "", usagef("%s is served by %s; name one of them", what, strings.Join(names, ", "))
}

// printInstalled lists the servers that tenon has in the files of all clients.
func (in *installing) printInstalled() error {
	s, err := in.system()
	if err != nil {
		return err
	}
	all := []installed{}
	seen := map[string]bool{} // in the home directory both scopes of some clients have one file
	for _, name := range clientconfig.Names() {
		c := clientconfig.Find(name)
		for _, scope := range []clientconfig.Scope{clientconfig.User, clientconfig.Project} {
			file, err := c.File(scope, s)
			if err != nil || seen[file] {
				continue
			}
			seen[file] = true
			servers, err := c.Installed(file)
			if err != nil {
				fmt.Fprintf(in.env.err, "tenon: %v\n", err)
			}
			for _, one := range servers {
				all = append(all, installed{Client: name, Scope: string(scope), File: file, Name: one.Name, Command: one.Command, Args: one.Args, Credentials: credentialsIn(one.Args)})
			}
		}
	}
	if in.asJSON {
		return printJSON(in.env.out, all)
	}
	for _, one := range all {
		fmt.Fprintf(in.env.out, "%-15s %-8s %-30s %s\n", one.Client, one.Scope, one.Name, one.File)
	}
	if len(all) == 0 {
		fmt.Fprintln(in.env.err, "tenon: no client has a server of tenon")
	}
	return nil
}
