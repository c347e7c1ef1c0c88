package auth_test

import (
	"testing"

	"github.com/tenon-mcp/tenon/auth"
)

func TestWhoMatches(t *testing.T) {
	key := &auth.Caller{Key: "alice"}
	alice := &auth.Caller{Issuer: "https://login.example", Subject: "alice", ClientID: "cli", Scopes: []string{"books"}, Groups: []string{"staff", "students"}}
	robot := &auth.Caller{Issuer: "https://login.example", ClientID: "alice"}
	for _, c := range []struct {
		who   string
		about []*auth.Caller
	}{
		{"everybody", []*auth.Caller{nil, key, alice, robot}},
		{"key:alice", []*auth.Caller{key}},
		{"subject:alice", []*auth.Caller{alice}},
		{"client:alice", []*auth.Caller{robot}},
		{"client:cli", []*auth.Caller{alice}},
		{"group:students", []*auth.Caller{alice}},
		{"group:student", nil},
		{"scope:books", []*auth.Caller{alice}},
	} {
		w, err := auth.ParseWho(c.who)
		if err != nil || w.String() != c.who {
			t.Fatal(c.who, w, err)
		}
		for _, caller := range []*auth.Caller{nil, key, alice, robot} {
			want := false
			for _, m := range c.about {
				want = want || m == caller
			}
			if w.Matches(caller) != want {
				t.Errorf("%s is about %+v: %t", c.who, caller, !want)
			}
		}
	}
	for _, text := range []string{"", "alice", "everybody:x", ":", "key:", "user:alice", "Key:alice"} {
		if w, err := auth.ParseWho(text); err == nil {
			t.Errorf("%q is %v", text, w)
		}
	}
}
