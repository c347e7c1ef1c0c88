package auth

import (
	"slices"
	"testing"
)

func TestScopesThatTheIssuerDoesNotList(t *testing.T) {
	for name, tt := range map[string]struct {
		listed any
		want   []string
	}{
		"it does not say":  {nil, nil},
		"all":              {[]string{"read", "write", "more"}, nil},
		"one is missing":   {[]string{"read"}, []string{"write"}},
		"a broader one is": {[]string{"read", "admin"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeIssuer()
			f.metadata = map[string]any{"scopes_supported": tt.listed}
			a := f.authenticator(t, func(o *Options) {
				o.Scopes, o.MoreScopes, o.Implies = []string{"read"}, []string{"write"}, map[string][]string{"admin": {"write"}}
			})
			got, err := a.Ungranted(t.Context())
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %v %v, want %v", got, err, tt.want)
			}
		})
	}
}
