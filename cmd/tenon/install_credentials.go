package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/tenon-mcp/tenon/internal/keyring"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// maxCredential bounds a credential that is read from a file, in bytes.
const maxCredential = 64 << 10

// keptCredential is a credential and where it is kept.
type keptCredential struct {
	Name  string `json:"name"`
	Place string `json:"place,omitempty"` // keyring:NAME or file:PATH; empty: there is none
	oauth bool   // it is a client of an authorization server
}

// credentialPlan is what becomes of the credentials of a server.
type credentialPlan struct {
	places keyring.Places
	all    []*plannedCredential
	notes  []string
}

// plannedCredential is a flag of the server.
type plannedCredential struct {
	need

	entry string // name of what is kept
	value string // to keep; empty: it is kept already, or there is none
	place string // keyring:NAME, file:PATH or none
	had   bool   // the server has one
	made  bool   // value is stored
}

// planCredentials finds a value for every credential that the description needs:
// given, kept for a server of this name, or asked for.
func (in *installing) planCredentials(file, server string, line *serveLine) (*credentialPlan, error) {
	places, err := in.places()
	if err != nil {
		return nil, err
	}
	plan := &credentialPlan{places: places}
	given, err := in.readGiven(line.needs)
	if err != nil {
		return nil, err
	}
	kept := in.kept(file, server, places)
	var missing []need
	for _, n := range line.needs {
		old := kept[n.name]
		c := &plannedCredential{need: n, entry: in.prefix(file, server) + "/" + keyring.Name(n.name), had: old.Place != ""}
		c.oauth = false // unless it is said
		value, isGiven := given[n.name]
		switch {
		case line.given[n.name]:
			continue // by a flag of serve
		case isGiven && value.none:
			c.place = "none"
		case isGiven:
			c.value, c.oauth = value.text, value.oauth
		case in.noCredentials:
		case in.dry && !c.had:
			c.value = "asked for"
		default:
			c.value, err = in.ask(n, c.had)
			switch {
			case errors.Is(err, errNoTerminal) && !c.had:
				missing = append(missing, n)
			case err != nil && !errors.Is(err, errNoTerminal):
				return nil, err
			}
		}
		switch {
		case c.place != "":
		case c.value != "":
			c.place = places.Would(c.entry, keyring.Kind(in.store))
		case c.had:
			c.place, c.oauth = old.Place, old.oauth
		default:
			plan.notes = append(plan.notes, n.name+" ("+n.what+") is not configured; calls that need it will say so")
			continue
		}
		plan.all = append(plan.all, c)
	}
	if missing == nil {
		return plan, nil
	}
	return nil, noTerminal(missing)
}

// noTerminal says how to give what nobody can be asked for.
func noTerminal(missing []need) error {
	var lines []string
	for _, n := range missing {
		lines = append(lines, fmt.Sprintf("  --credential %s=env:VAR  %s", n.name, n.what))
	}
	return usagef("this is no terminal to ask for credentials:\n%s\n--no-credentials installs without them", strings.Join(lines, "\n"))
}

// kept are the credentials that a server of this name has already.
func (in *installing) kept(file, server string, places keyring.Places) map[string]keptCredential {
	all := map[string]keptCredential{}
	servers, _ := in.client.Installed(file) // what is wrong with it is told with the edit
	for _, s := range servers {
		for _, c := range credentialsIn(s.Args) {
			if s.Name == server && places.Made(c.Place, in.prefix(file, server)) {
				all[c.Name] = c
			}
		}
	}
	return all
}

// givenCredential is what --credential says.
type givenCredential struct {
	text  string
	oauth bool
	none  bool
}

// readGiven reads the values of --credential. Errors do not repeat what was given:
// somebody may have written the secret itself.
func (in *installing) readGiven(needs []need) (map[string]givenCredential, error) {
	all := map[string]givenCredential{}
	for _, flag := range in.given {
		name, where, ok := strings.Cut(flag, "=")
		if !ok || name == "" {
			return nil, usagef("--credential wants SCHEME=env:VAR or SCHEME=file:PATH")
		}
		at := slices.IndexFunc(needs, func(n need) bool { return n.name == name })
		if at < 0 {
			return nil, noSuchNeed(name, needs)
		}
		if _, twice := all[name]; twice {
			return nil, usagef("--credential %s is given twice", name)
		}
		if where == "none" && needs[at].flag == "auth" {
			all[name] = givenCredential{none: true}
			continue
		}
		plain, oauth := strings.CutPrefix(where, "oauth2:")
		if oauth && needs[at].flag != "auth" {
			return nil, usagef("--credential %s: oauth2: is for security schemes", name)
		}
		text, err := in.readSecret(plain)
		if err != nil {
			return nil, usagef("--credential %s: %v", name, err)
		}
		all[name] = givenCredential{text: text, oauth: oauth}
	}
	return all, nil
}

// noSuchNeed says what the description needs instead.
func noSuchNeed(name string, needs []need) error {
	var names []string
	for _, n := range needs {
		names = append(names, n.name)
	}
	others := suggest.Question(suggest.Near(name, names, maxSuggested))
	if others == "" && names != nil {
		others = "; it needs " + strings.Join(names, ", ")
	}
	return usagef("--credential %s: the description needs no such credential%s", name, others)
}

// readSecret reads what is at env:VAR or file:PATH.
func (in *installing) readSecret(where string) (string, error) {
	kind, rest, _ := strings.Cut(where, ":")
	var text string
	switch {
	case kind == "env" && rest != "":
		text, _ = in.env.getenv(rest)
		if text == "" {
			return "", fmt.Errorf("the environment has no variable %s", clipped(rest))
		}
	case kind == "file" && rest != "":
		f, err := os.Open(rest) //nolint:gosec // the user names the file
		if err != nil {
			return "", err
		}
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, maxCredential+1))
		if err != nil {
			return "", err
		}
		if len(b) > maxCredential {
			return "", fmt.Errorf("it is larger than %d KiB", maxCredential>>10)
		}
		text = string(b)
	default:
		return "", errors.New("it wants env:VAR, file:PATH or none; the secret itself does not belong there")
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", errors.New("it is empty")
	}
	return text, nil
}

var errNoTerminal = errors.New("this is no terminal")

// ask asks for a credential at a terminal, without echo. Nothing typed is no
// credential, or the one that is kept.
func (in *installing) ask(n need, kept bool) (string, error) {
	f, ok := in.env.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", errNoTerminal
	}
	what, without := n.what, "none"
	if n.oauth {
		what += "; an access token, or leave it and give a client with --credential"
	}
	if kept {
		without = "the one that is kept"
	}
	fmt.Fprintf(in.env.err, "%s (%s; nothing: %s): ", n.name, what, without)
	b, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(in.env.err)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

// args are the flags of the server.
func (p *credentialPlan) args() []string {
	var all []string
	for _, c := range p.all {
		place := c.place
		if c.oauth {
			place = "oauth2:" + place
		}
		all = append(all, "--"+c.flag+"="+c.name+"="+place)
	}
	return all
}

// save stores the new values.
func (p *credentialPlan) save(kind keyring.Kind) error {
	for _, c := range p.all {
		if c.value == "" {
			continue
		}
		place, why, err := p.places.Save(c.entry, c.value, kind)
		if err != nil {
			return errors.Join(fmt.Errorf("the credential %s is not stored: %w", c.name, err), p.undo())
		}
		if why != nil {
			p.notes = append(p.notes, fmt.Sprintf("the credential %s is in a file that only you can read, because %v", c.name, why))
		}
		c.place, c.made = place, !c.had
	}
	return nil
}

// undo removes what save stored.
func (p *credentialPlan) undo() (err error) {
	for _, c := range p.all {
		if c.made {
			err = errors.Join(err, p.places.Remove(c.place))
		}
	}
	return err
}

// kept is where the credentials are.
func (p *credentialPlan) kept() []keptCredential {
	all := []keptCredential{}
	for _, c := range p.all {
		all = append(all, keptCredential{Name: c.name, Place: c.place})
	}
	return all
}

// credentialsIn are the credentials in the arguments of a server.
func credentialsIn(args []string) []keptCredential {
	all := []keptCredential{}
	for _, arg := range args {
		for _, flag := range []string{"--auth=", "--server-param="} {
			rest, found := strings.CutPrefix(arg, flag)
			name, place, named := strings.Cut(rest, "=")
			if !found || !named {
				continue
			}
			place, oauth := strings.CutPrefix(place, "oauth2:")
			all = append(all, keptCredential{Name: name, Place: place, oauth: oauth})
		}
	}
	return all
}
