package bundle

import (
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// here are the modules of Node that stand around a library and need no outside.
func here() []string {
	return []string{
		"assert", "assert/strict", "buffer", "crypto", "events", "os", "path", "path/posix", "process", "querystring", "stream", "stream/promises", "string_decoder", "timers",
		"url", "util", "util/types", "zlib",
	}
}

// outside are those that lead to files, to the network or to other programs.
// Pure code imports them too, for what it does elsewhere.
func outside() []string {
	return []string{
		"async_hooks", "child_process", "cluster", "constants", "dgram", "diagnostics_channel", "dns", "dns/promises", "domain", "fs", "fs/promises", "http", "http2", "https",
		"inspector", "module", "net", "perf_hooks", "readline", "readline/promises", "repl", "sys", "timers/promises", "tls", "tty", "v8", "vm", "wasi", "worker_threads",
	}
}

// nodeFirst are the modules that are Node's own also where a package of the
// same name is installed: those lack what libraries use.
func nodeFirst() []string {
	var all []string
	for _, name := range []string{"zlib", "crypto", "buffer", "path", "url", "util", "querystring"} {
		all = append(all, name, "node:"+name)
	}
	return all
}

// nodeModules leaves imports of Node's modules as they stand where nothing that
// is installed answers to them: neither a package of that name nor what a
// package says for browsers.
type nodeModules struct {
	mu      sync.Mutex
	missing map[string]bool
}

// resolving marks our own question, so that it is not asked again.
type resolving struct{}

func (n *nodeModules) setup(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: `^(node:)?[a-z0-9_]+(/[a-z]+)?$`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		name := strings.TrimPrefix(args.Path, "node:")
		leadsOut := slices.Contains(outside(), name)
		if _, ours := args.PluginData.(resolving); ours || !leadsOut && !slices.Contains(here(), name) {
			return api.OnResolveResult{}, nil
		}
		if name == args.Path {
			found := b.Resolve(args.Path, api.ResolveOptions{Importer: args.Importer, ResolveDir: args.ResolveDir, Kind: args.Kind, PluginData: resolving{}})
			if len(found.Errors) == 0 {
				return api.OnResolveResult{}, nil
			}
		}
		if leadsOut {
			n.mu.Lock()
			n.missing[name] = true
			n.mu.Unlock()
		}
		return api.OnResolveResult{Path: name, External: true}, nil
	})
}
