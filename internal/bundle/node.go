package bundle

import (
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// providedModules returns the modules of Node that realms provide.
func providedModules() []string {
	return []string{
		"assert", "assert/strict", "buffer", "crypto", "events", "os", "path", "path/posix", "process", "querystring", "stream", "stream/promises", "string_decoder", "timers",
		"url", "util", "util/types", "zlib",
	}
}

// unsafeModules returns the modules with access to files, the network or other
// programs. Pure code imports them too, for use elsewhere.
func unsafeModules() []string {
	return []string{
		"async_hooks", "child_process", "cluster", "constants", "dgram", "diagnostics_channel", "dns", "dns/promises", "domain", "fs", "fs/promises", "http", "http2", "https",
		"inspector", "module", "net", "perf_hooks", "readline", "readline/promises", "repl", "sys", "timers/promises", "tls", "tty", "v8", "vm", "wasi", "worker_threads",
	}
}

// preferNode returns the modules that are taken from the realm even where a
// package of that name is installed, because those packages are incomplete.
func preferNode() []string {
	var all []string
	for _, name := range []string{"zlib", "crypto", "buffer", "path", "url", "util", "querystring"} {
		all = append(all, name, "node:"+name)
	}
	return all
}

// nodeModules marks imports of Node's modules as external, unless an installed
// package or its browser field resolves them.
type nodeModules struct {
	mu      sync.Mutex
	missing map[string]bool
}

// resolving marks our own nested resolution, to prevent recursion.
type resolving struct{}

func (n *nodeModules) setup(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: `^(node:)?[a-z0-9_]+(/[a-z]+)?$`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		name := strings.TrimPrefix(args.Path, "node:")
		leadsOut := slices.Contains(unsafeModules(), name)
		if _, ours := args.PluginData.(resolving); ours || !leadsOut && !slices.Contains(providedModules(), name) {
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
