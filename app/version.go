package app

import "runtime/debug"

// module is this module, as builds record it.
const module = "github.com/tenon-mcp/tenon"

// Version is the version of this module as the build recorded it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	of := info.Main
	for _, dep := range info.Deps {
		if dep.Path == module {
			of = *dep
		}
	}
	if of.Version == "" {
		return "(devel)"
	}
	return of.Version
}
