package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tenon-mcp/tenon/internal/atomicfile"
)

// maxFile is the largest file that is read, in bytes. That of Claude Code holds
// what a person typed in all projects.
const maxFile = 64 << 20

// backupSuffix is what the file before an edit is called, beside the file.
const backupSuffix = ".tenon-backup"

// Edit is a change of a file that was not written yet.
type Edit struct {
	File    string // as the client names it
	Server  Server // that is added or removed
	Before  []byte // nil: there is no file
	After   []byte // nil: the file goes
	Restore bool   // After is the backup

	replaces bool   // a server that tenon added: the backup is of the text without it
	target   string // File without links
	again    func(before []byte) (*Edit, error)
}

// read returns a client's file and where it really is. Links are followed: people
// keep such files elsewhere and link to them. What is reached has to be a plain
// file of the user, because a client's configuration says which programs are
// started.
func read(file string) (text []byte, target string, err error) {
	_, err = os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, file, nil
	}
	if err != nil {
		return nil, "", err
	}
	target, err = filepath.EvalSymlinks(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("%s is a link to something that is not there", file)
	}
	if err != nil {
		return nil, "", err
	}
	// Opening a named pipe would wait for somebody who writes to it.
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return nil, "", fmt.Errorf("%s is not a regular file", target)
	}
	f, err := os.Open(target)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, "", err
	case !info.Mode().IsRegular():
		return nil, "", fmt.Errorf("%s is not a regular file", target)
	case !ownedByUser(info):
		return nil, "", fmt.Errorf("%s belongs to another user", target)
	}
	text, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d MiB", target, maxFile>>20)
	}
	if text == nil {
		text = []byte{} // not absent
	}
	return text, target, err
}

// about says in which file something is wrong.
func about(file string, err error) error {
	if bad, ok := errors.AsType[*SyntaxError](err); ok {
		return fmt.Errorf("%s:%d:%d: %s; nothing was changed", file, bad.Line, bad.Column, bad.Message)
	}
	return fmt.Errorf("%s: %w; nothing was changed", file, err)
}

// Installed are the servers in a client's file that tenon added.
func (c *Client) Installed(file string) ([]Server, error) {
	text, _, err := read(file)
	if err != nil {
		return nil, err
	}
	all, err := c.Servers(text)
	if err != nil {
		return nil, about(file, err)
	}
	var ours []Server
	for _, s := range all {
		if s.Ours() {
			ours = append(ours, s)
		}
	}
	return ours, nil
}

// PlanAdd is the edit that adds a server to a client's file.
func (c *Client) PlanAdd(file string, s *Server) (*Edit, error) {
	before, target, err := read(file)
	if err != nil {
		return nil, err
	}
	plan := func(before []byte) (*Edit, error) {
		after, err := c.Add(before, s)
		if err != nil {
			return nil, about(file, err)
		}
		_, missing := c.find(before, s.Name)
		return &Edit{File: file, Server: *s, Before: before, After: after, target: target, replaces: missing == nil}, nil
	}
	return planned(before, plan)
}

// PlanRemove is the edit that removes a server from a client's file. Where nobody
// else changed the file since the server was added, it is as it was before, byte
// for byte.
func (c *Client) PlanRemove(file, name string) (*Edit, error) {
	before, target, err := read(file)
	if err != nil {
		return nil, err
	}
	plan := func(before []byte) (*Edit, error) {
		after, s, err := c.Remove(before, name)
		if err != nil {
			return nil, about(file, err)
		}
		e := &Edit{File: file, Server: s, Before: before, After: after, target: target}
		backup, _, err := read(target + backupSuffix)
		_, missing := c.find(backup, name)
		switch {
		case err == nil && backup != nil && missing != nil && bytes.Equal(c.with(backup, &s), before):
			e.After, e.Restore = backup, true
		case err == nil && backup == nil && c.format.empty(after):
			e.After = nil // the file was made for the server
		}
		return e, nil
	}
	return planned(before, plan)
}

// with is a text with a server, or nil.
func (c *Client) with(text []byte, s *Server) []byte {
	changed, err := c.Add(text, s)
	if err != nil {
		return nil
	}
	return changed
}

func planned(before []byte, plan func([]byte) (*Edit, error)) (*Edit, error) {
	e, err := plan(before)
	if err != nil {
		return nil, err
	}
	e.again = plan
	return e, nil
}

// Changes reports whether there is anything to write.
func (e *Edit) Changes() bool {
	return (e.Before == nil) != (e.After == nil) || !bytes.Equal(e.Before, e.After)
}

// Write makes the edit. The file is complete before and after it; what it was is
// beside it. A client that has written the file meanwhile does not lose what it
// wrote: the edit is made again, a few times.
func (e *Edit) Write() error {
	for range 3 {
		now, target, err := read(e.File)
		if err != nil {
			return err
		}
		if target == e.target && bytes.Equal(now, e.Before) && (now == nil) == (e.Before == nil) {
			return e.write()
		}
		next, err := e.again(now)
		if err != nil {
			return err
		}
		next.again, next.target = e.again, target
		*e = *next
	}
	return fmt.Errorf("%s changes all the time; end the client and try again", e.File)
}

func (e *Edit) write() error {
	if !e.Changes() {
		return nil
	}
	backup := e.target + backupSuffix
	if e.After == nil {
		return os.Remove(e.target)
	}
	if e.Before == nil {
		return atomicfile.Write(e.target, e.After)
	}
	if e.Restore {
		if err := atomicfile.Overwrite(e.target, e.After); err != nil {
			return err
		}
		return os.Remove(backup)
	}
	if e.replaces {
		return atomicfile.Overwrite(e.target, e.After)
	}
	info, err := os.Stat(e.target)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(backup, e.Before); err != nil {
		return err
	}
	if err := os.Chmod(backup, info.Mode().Perm()); err != nil { // as readable as the file
		return err
	}
	return atomicfile.Overwrite(e.target, e.After)
}
