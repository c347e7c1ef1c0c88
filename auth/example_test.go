package auth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tenon-mcp/tenon/auth"
)

// Whoever has no token learns where to get one.
func ExampleAuthenticator() {
	a, err := auth.New(auth.Options{
		Issuer:   "https://login.example.com",
		Resource: "https://mcp.example.com/mcp",
		Scopes:   []string{"books:read"},
		Keys:     []auth.Key{auth.NewKey("nightly", "a long random key")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	h := a.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "hello", auth.FromContext(r.Context()).ID())
	}))
	for _, key := range []string{"a long random key", ""} {
		r := httptest.NewRequest(http.MethodGet, "/mcp", http.NoBody)
		r.Header.Set("X-API-Key", key)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Print(w.Code, " ", w.Body)
		fmt.Println(w.Header().Get("WWW-Authenticate"))
	}
	// Output:
	// 200 hello nightly
	//
	// 401 a credential is missing or wrong: send an access token or a key in the header Authorization, as Bearer TOKEN, or a key in X-API-Key
	// Bearer scope="books:read", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
}
