package app

import (
	"context"
	"slices"
	"sync"

	"github.com/tenon-mcp/tenon/audit"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// auditor is the audit log in force. Whoever writes a line holds it, so that a log
// that is replaced has all lines of its time.
type auditor struct {
	mu      sync.RWMutex
	log     *audit.Log // nil: none
	dropped int64      // lines of logs before
}

// replace puts l in force and closes the log before; its error is about that.
func (a *auditor) replace(l *audit.Log) error {
	a.mu.Lock()
	before := a.log
	a.log = l
	if before != nil {
		a.dropped += before.Lost()
	}
	a.mu.Unlock()
	if before == nil {
		return nil
	}
	return before.Close()
}

// ObserveCall implements [gateway.Observer].
func (a *auditor) ObserveCall(ctx context.Context, r *gateway.CallRecord) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.log != nil {
		a.log.ObserveCall(ctx, r)
	}
}

// Admit implements [gateway.Admission].
func (a *auditor) Admit(ctx context.Context, at gateway.Attempt) (leave func(), err error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.log == nil {
		return nil, nil
	}
	return a.log.Admit(ctx, at)
}

func (a *auditor) refused(r server.RefusalRecord) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.log != nil {
		a.log.Refused(audit.Refusal{Status: r.Status, Reason: r.Reason, Peer: r.Peer, Subject: string(r.Subject), Tool: r.Name})
	}
}

func (a *auditor) reopen() error {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.log == nil {
		return nil
	}
	return a.log.Reopen()
}

// lost is how many lines were lost in all.
func (a *auditor) lost() int64 {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.log == nil {
		return a.dropped
	}
	return a.dropped + a.log.Lost()
}

// Close implements io.Closer.
func (a *auditor) Close() error { return a.replace(nil) }

// auditedAlike reports whether two configs ask for the same audit log.
func auditedAlike(a, b *Config) bool {
	return a.Audit == b.Audit && a.AuditKey == b.AuditKey && a.AuditRequired == b.AuditRequired && a.AuditSync == b.AuditSync &&
		a.AuditMaxBytes == b.AuditMaxBytes && a.AuditKeep == b.AuditKeep && slices.Equal(a.AuditArgument, b.AuditArgument)
}
