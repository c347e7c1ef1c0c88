//go:build !(amd64 || arm64)

// Package engine leaves JSON to the QuickJS engine on this architecture.
package engine

import (
	"time"

	"modernc.org/quickjs"
)

// MaxResult limits the JSON of a result, in bytes.
const MaxResult = 64 << 20

// Engine is not available on this architecture: all values are converted by
// text.
type Engine struct{}

// New returns nil.
func New(*quickjs.VM) *Engine { return nil }

// EnableFastMap does nothing.
func (e *Engine) EnableFastMap() {}

// Parse leaves every text to JSON.parse.
func (e *Engine) Parse([]byte) (v quickjs.Value, ok bool) { return v, false }

// ParseString leaves every text to JSON.parse.
func (e *Engine) ParseString(quickjs.Value) (v quickjs.Value, ok bool) { return v, false }

// AppendJSON leaves every value to JSON.stringify.
func (e *Engine) AppendJSON(dst []byte, _ quickjs.Value, _ time.Time) ([]byte, bool) {
	return dst, false
}

// Refused reports false: refusals are not recorded.
func (e *Engine) Refused() bool { return false }

// ForgetRefusals does nothing.
func (e *Engine) ForgetRefusals() {}
