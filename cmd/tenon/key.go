package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// keyBytes are random, so that the sum of a key protects it.
const keyBytes = 32

func keyCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Make keys for callers",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "new NAME",
		Short: "Make a key for a caller, and its line for the config",
		Long: `Make a random key for the caller NAME. Standard output gets the key, which is
shown this once and goes to its owner, and the line of it for a config, under
api-key:, which has only its SHA-256 sum. Nothing is stored.`,
		Example: `  tenon key new alice
  tenon key new nightly > nightly.key`,
		Args: exactly(1, "key new wants one NAME: that of the caller"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`=:#"'{}[],&*!|>%@`+"`", r) }) {
				return usagef("a NAME has no spaces and none of = : # quotes and brackets, so that it can stand in a config")
			}
			random := make([]byte, keyBytes)
			_, _ = rand.Read(random) // never fails: see crypto/rand
			key := base64.RawURLEncoding.EncodeToString(random)
			sum := sha256.Sum256([]byte(key))
			_, err := fmt.Fprintf(e.out, "%s\n%s: sha256:%s\n", key, name, hex.EncodeToString(sum[:]))
			if err == nil {
				fmt.Fprintln(e.err, "tenon: the first line is the key, for its owner alone; the second belongs under api-key: in the config")
			}
			return err
		},
	})
	return cmd
}
