package app

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp/host"
	"github.com/tenon-mcp/tenon/openapi"
)

// isApp reports whether where is the folder of a function app.
func isApp(where string) bool {
	info, err := os.Stat(filepath.Join(where, "host.json"))
	return err == nil && !info.IsDir()
}

func functionApp(dir string, own *SourceOptions, o openapi.Options, e Env) (tenon.Source, error) {
	environ, err := own.WorkerEnviron(e)
	if err != nil {
		return nil, err
	}
	return host.New(dir, host.Options{
		Policy: o.Policy, Envelope: o.Envelope, PublishIncompatibleSchemas: own.PublishIncompatibleSchemas, TrustPort: own.TrustWorkerPort, OnDemand: e.OnDemand, Environ: environ, Logger: e.Logger,
	}), nil
}

// inherited are the variables that a worker always sees: without them hardly a
// program starts, and none of them is a secret.
func inherited() []string {
	return []string{
		"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"SYSTEMROOT", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "DOTNET_ROOT", "JAVA_HOME",
	}
}

// WorkerEnviron is what of the environment the worker of a function app sees.
func (o *SourceOptions) WorkerEnviron(e Env) ([]string, error) {
	var all []string
	for _, name := range inherited() {
		if value, ok := e.Getenv(name); ok {
			all = append(all, name+"="+value)
		}
	}
	for _, given := range o.WorkerEnv {
		name, value, set := strings.Cut(given, "=")
		if !set {
			var ok bool
			if value, ok = e.Getenv(name); !ok {
				return nil, invalid("worker-env", " %s: the environment has no such variable", name)
			}
		}
		all = append(all, name+"="+value)
	}
	return all, nil
}
