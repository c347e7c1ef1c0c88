package app

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/config"
	"github.com/tenon-mcp/tenon/internal/jq"
	"github.com/tenon-mcp/tenon/internal/toolname"
	"github.com/tenon-mcp/tenon/openapi"
)

// What can be checked of a value before anything is read, and which part of a
// value names a file, which is relative to the directory of the config file.

func checkSelector(value string) error {
	if err := openapi.ParseSelector(value); err != nil {
		return fmt.Errorf("selector %q: %w", value, err)
	}
	return nil
}

func checkJQ(value string) error {
	_, err := jq.Compile(value)
	return err
}

// checkNotZero is for what would be a mistake: a log that is removed at once.
func checkNotZero(value string) error {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && n == 0 {
		return errors.New("0 would keep nothing; a negative number is no limit")
	}
	return nil
}

func checkBytes(value string) error {
	_, err := parseBytes(value)
	return err
}

// parseBytes reads a limit; less than 1 is none.
func parseBytes(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("a whole number of bytes such as 204800, not %q", clipped(s))
	}
	if n < 1 {
		n = -1
	}
	return n, nil
}

func checkClient(value string) error {
	if value == "" {
		return nil
	}
	_, err := client(value)
	return err
}

func checkNameBudget(value string) error {
	if n, err := strconv.Atoi(value); err == nil && n != 0 && (n < toolname.Shortest || n > 128) {
		return fmt.Errorf("16 to 128, or 0 for as many as --names allows, not %s", value)
	}
	return nil
}

// besideAt is for @FILE.
func besideAt(folder, value string) string {
	if file, ok := strings.CutPrefix(value, "@"); ok {
		return "@" + config.Beside(folder, file)
	}
	return value
}

// besideFile is for FILE, where - is standard output and otlp the receiver of telemetry.
func besideFile(folder, value string) string {
	if value == "-" || value == auditOTLP {
		return value
	}
	return config.Beside(folder, value)
}

// besideEvidence is for FILE or off.
func besideEvidence(folder, value string) string {
	if value == evidenceOff {
		return value
	}
	return config.Beside(folder, value)
}

// besideSecretFile is for file:PATH.
func besideSecretFile(folder, value string) string {
	if file, ok := strings.CutPrefix(value, "file:"); ok {
		return "file:" + config.Beside(folder, file)
	}
	return value
}

// besideSecret is for NAME=file:PATH.
func besideSecret(folder, value string) string {
	for _, mark := range []string{"=file:", "=oauth2:file:"} {
		if before, file, ok := strings.Cut(value, mark); ok {
			return before + mark + config.Beside(folder, file)
		}
	}
	return value
}

// besideCert is for https://host=CERT,KEY.
func besideCert(folder, value string) string {
	name, files, _ := strings.Cut(value, "=")
	parts := strings.Split(files, ",")
	for i := range parts {
		parts[i] = config.Beside(folder, parts[i])
	}
	return name + "=" + strings.Join(parts, ",")
}

// clipped is the beginning of what somebody wrote.
func clipped(value string) string {
	const shown = 80
	if len(value) > shown {
		return strings.ToValidUTF8(value[:shown], "") + "…"
	}
	return value
}

// secretName is what secrets are called, and secretValue how credentials of
// HTTP begin.
var (
	secretName  = regexp.MustCompile(`(?i)authorization|cookie|token|secret|passw|credential|api.?key|(^|[-_.])key$`)
	secretValue = regexp.MustCompile(`(?i)^\s*(bearer|basic|digest|token|apikey)\s+\S`)
)

// variable is a reference to a variable of the environment.
var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// What a secret is refused by. A config file is copied, committed and shown as a
// command line is. No error repeats the value.

func noSecretHeader(value string) error {
	name, rest, _ := strings.Cut(value, ":")
	if (secretName.MatchString(strings.TrimSpace(name)) || secretValue.MatchString(rest)) && !variable.MatchString(rest) {
		return errors.New(strings.TrimSpace(name) + " is a secret: write '${VAR}' in single quotes, which is read from the environment")
	}
	return nil
}

func noSecretVariable(value string) error {
	if name, _, set := strings.Cut(value, "="); set && secretName.MatchString(name) {
		return errors.New(name + " is a secret: write the name alone, and its value is taken from the environment")
	}
	return nil
}

func noSecretArgument(value string) error {
	name, rest, _ := strings.Cut(value, "=")
	if secretName.MatchString(name) && secretValue.MatchString(rest) {
		return errors.New(name + " is a secret: a credential comes by --auth, which names where it is")
	}
	return nil
}

func noUserInURL(value string) error {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return errors.New("it holds a user and a password: give them by --auth or --header, which read them from the environment")
	}
	return nil
}

func noLiteralKey(value string) error {
	if !variable.MatchString(value) {
		return errors.New("it is a secret: write ${VAR}, which is read from the environment")
	}
	return nil
}
