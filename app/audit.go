package app

import (
	"fmt"
	"io"
	"strings"

	"github.com/tenon-mcp/tenon/audit"
)

// auditOTLP is the value of Config.Audit for the receiver of telemetry.
const auditOTLP = "otlp"

// openAudit opens the audit log that a config asks for; nil: none.
func (a *App) openAudit(c *Config) (*audit.Log, error) {
	if c.Audit == "" {
		if c.AuditRequired || len(c.AuditArgument) > 0 || c.AuditKey != "" {
			return nil, invalid("audit", " FILE says where the audit log is written, which other settings speak of")
		}
		return nil, nil //nolint:nilnil // there is none
	}
	if c.AuditKeep == 0 || c.AuditMaxBytes == 0 {
		return nil, invalid("audit", ": --audit-keep and --audit-max-bytes of 0 would keep nothing; a negative number is no limit")
	}
	o := audit.Options{Path: c.Audit, MaxBytes: c.AuditMaxBytes, Keep: c.AuditKeep, Sync: audit.Sync(c.AuditSync), Required: c.AuditRequired, Logger: a.env.Logger}
	if a.telemetry != nil {
		o.Trace = a.telemetry.Trace
	}
	var err error
	if o.Writer, err = a.auditWriter(c); err != nil {
		return nil, err
	}
	if o.Clear, err = argumentsInClear(c.AuditArgument); err != nil {
		return nil, err
	}
	if c.AuditKey != "" {
		if o.Key, err = secretAt(a.env, c.AuditKey); err != nil {
			return nil, invalid("audit-key", ": %v", err)
		}
	}
	if a.env.DryRun || a.env.OnDemand { // such as tenon check
		return nil, nil //nolint:nilnil // what can be checked without a file was checked
	}
	l, err := audit.Open(o)
	if err != nil {
		return nil, invalid("audit", " %s: %v", c.Audit, err)
	}
	return l, nil
}

// auditWriter is where the lines of the audit log go; nil: into the file.
func (a *App) auditWriter(c *Config) (io.Writer, error) {
	switch {
	case c.Audit == "-" && c.HTTP == "":
		return nil, invalid("audit", " -: standard output belongs to the client where tools are served on stdio; name a file")
	case c.Audit == "-":
		return a.env.Stdout, nil
	case c.Audit != auditOTLP:
		return nil, nil //nolint:nilnil // it is a file
	case a.telemetry == nil && (a.env.DryRun || a.env.OnDemand): // nothing is written
		return io.Discard, nil
	case a.telemetry == nil:
		return nil, invalid("audit", " %s: --otlp URL says where its lines are sent, from the next start on", auditOTLP)
	}
	w := a.telemetry.AuditWriter()
	if w == nil {
		return nil, invalid("audit", " %s: OTEL_LOGS_EXPORTER leaves logs out", auditOTLP)
	}
	return w, nil
}

// argumentsInClear reads [TOOL=]/POINTER.
func argumentsInClear(list []string) (map[string][]string, error) {
	open := map[string][]string{}
	for _, value := range list {
		if err := checkAuditArgument(value); err != nil {
			return nil, invalid("audit-argument", " %v", err)
		}
		tool, pointer, _ := strings.Cut(value, "/")
		tool = strings.TrimSuffix(tool, "=")
		open[tool] = append(open[tool], "/"+pointer)
	}
	return open, nil
}

func checkAuditArgument(value string) error {
	tool, _, ok := strings.Cut(value, "/")
	if !ok || tool != "" && (len(tool) == 1 || strings.Index(tool, "=") != len(tool)-1) {
		return fmt.Errorf("%q is not a JSON Pointer such as /id, or one for a single tool such as buy_book=/id", clipped(value))
	}
	return nil
}
