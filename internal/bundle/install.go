package bundle

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon/internal/proc"
)

// Install installs packages (name or name@version) in dir/node_modules with
// npm, without running their scripts. env is the environment of npm, for its
// settings and its registry.
func Install(ctx context.Context, dir string, env []string, packages ...string) error {
	for _, p := range packages {
		if strings.HasPrefix(p, "-") || !packageName.MatchString(Name(p)) {
			return fmt.Errorf("%q is not the name of a package", p)
		}
	}
	args := append([]string{"install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"}, packages...)
	child, err := proc.Start(proc.Command{Path: "npm", Args: args, Env: env, Dir: dir})
	if err != nil {
		return fmt.Errorf("npm is needed to add libraries, or a folder where they are installed: %w", err)
	}
	defer child.Close()
	select {
	case <-child.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	if exit := child.Exit(); exit.Code != 0 {
		return fmt.Errorf("npm: %s\n%s", exit, exit.Tail)
	}
	return nil
}

// Name returns the name of a package without its version.
func Name(p string) string {
	if i := strings.LastIndexByte(p, '@'); i > 0 {
		return p[:i]
	}
	return p
}
