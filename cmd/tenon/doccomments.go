package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/doccomments"
)

func docCommentsCommand(e env) *cobra.Command {
	var o doccomments.Options
	var check bool
	c := &cobra.Command{
		Use:   "doc-comments [FOLDER]",
		Short: "Generate schema descriptions from Go doc comments",
		Long: `Write the doc comments of a Go package, in FOLDER or the current directory, to ` + doccomments.File + `:

  - for each function that can be a tool, func(context.Context, In) (Out, error),
    a constant: docGetWeather for getWeather. Pass it to gofunc.Func.
  - for each type that such functions take and return a method DocComments, which
    schemas use. A "doc" tag of a field takes precedence.

Put this line into the package:

  //go:generate tenon doc-comments`,
		Args: atMostOne("doc-comments takes one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			folder := "."
			if len(args) == 1 {
				folder = args[0]
			}
			return docComments(e, folder, o, check)
		},
	}
	c.Flags().BoolVar(&o.All, "all", false, "describe every type of the package")
	c.Flags().BoolVar(&check, "check", false, "write nothing; fail if "+doccomments.File+" is out of date")
	return c
}

func docComments(e env, folder string, o doccomments.Options, check bool) error {
	text, err := doccomments.Generate(folder, o)
	if err != nil {
		return &tenon.Error{Code: tenon.CodeBadSource, Message: err.Error()}
	}
	file := filepath.Join(folder, doccomments.File)
	old, err := os.ReadFile(file) //nolint:gosec // the folder that was asked for
	switch {
	case err == nil && bytes.Equal(old, text):
		return nil
	case check:
		return errors.New(file + " is not up to date: run tenon doc-comments, or go generate")
	}
	if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // source is for everyone
		return err
	}
	_, err = fmt.Fprintln(e.err, "wrote "+file)
	return err
}
