package openapi

// Secret is text that is printed nowhere: every verb of fmt, encoding/json and
// log/slog show a word in its place.
type Secret string

const hidden = "(secret)"

// String does not return the secret.
func (Secret) String() string { return hidden }

// GoString does not return it either.
func (Secret) GoString() string { return hidden }

// MarshalText hides the secret from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
