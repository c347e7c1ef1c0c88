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

func openFunctionApp(s *loaded, o openapi.Options, e Env) (tenon.Source, error) {
	if err := s.readRules(o.Selection); err != nil {
		return nil, err
	}
	environ, err := s.Options.WorkerEnviron(e)
	if err != nil {
		return nil, err
	}
	return host.New(s.Spec, host.Options{
		Policy: o.Policy, Envelope: o.Envelope, PublishIncompatibleSchemas: s.Options.PublishIncompatibleSchemas, TrustPort: s.Options.TrustWorkerPort, OnDemand: e.OnDemand, Environ: environ, Logger: e.Logger,
	}), nil
}

// takesFunction compares selectors with the name of a function, all that it has.
func takesFunction(rules *openapi.Selector, t *tenon.Tool) bool {
	return rules.Takes(openapi.Subject{IDs: []string{t.Name, tenon.ToolName(t.Name)}})
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
