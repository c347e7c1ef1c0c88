package enrollment_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/internal/enrollment"
	"github.com/tenon-mcp/tenon/internal/vault"
)

const base = "https://mcp.example.com"

// login is an issuer whose users are named by the code that it sends.
type login struct{}

func (login) BeginLogin(_ context.Context, redirect string) (string, auth.LoginAttempt, error) {
	state := "state-" + time.Now().String()
	return "https://login.example.com/auth?state=" + url.QueryEscape(state), auth.LoginAttempt{State: state, Redirect: redirect}, nil
}

func (login) FinishLogin(_ context.Context, began auth.LoginAttempt, came url.Values) (*auth.Caller, error) {
	if came.Get("state") != began.State || began.Redirect != base+"/credentials/callback" {
		return nil, errors.New("another login")
	}
	return &auth.Caller{Issuer: issuer, Subject: came.Get("code")}, nil
}

const issuer = "https://login.example.com"

func labelOf(subject string) vault.Label {
	return vault.Label{Issuer: issuer, Subject: subject, Source: "shop", Scheme: "key", Origin: "https://api.example.com"}
}

type fixture struct {
	*enrollment.Desk
	vault *vault.Vault
	blobs *blobs
	log   strings.Builder
}

// blobs can be a full disk.
type blobs struct {
	vault.Blobs
	full bool
}

func (b *blobs) Write(user, name string, content []byte) error {
	if b.full {
		return syscall.ENOSPC
	}
	return b.Blobs.Write(user, name, content)
}

func newFixture(t *testing.T) *fixture {
	dir, err := vault.Folder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	key, err := vault.ParseKey("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff")
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{blobs: &blobs{Blobs: dir}}
	if f.vault, err = vault.New(f.blobs, key); err != nil {
		t.Fatal(err)
	}
	f.Desk, err = enrollment.New(enrollment.Options{
		Resource: base + "/mcp", Vault: f.vault, Logger: slog.New(slog.NewTextHandler(&f.log, nil)), Login: func() enrollment.Login { return login{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) ask(t *testing.T, subject string) enrollment.Request {
	t.Helper()
	r, err := f.Ask(enrollment.Question{Label: labelOf(subject), Service: "A <b>shop</b>", Kind: "apiKey in header X-Key"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// browser keeps cookies as a browser does.
type browser struct {
	t       *testing.T
	f       *fixture
	cookies map[string]string
}

func (f *fixture) browser(t *testing.T) *browser { return &browser{t, f, map[string]string{}} }

func (b *browser) do(method, at, form string, header ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, at, strings.NewReader(form))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.f.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || !strings.HasPrefix(c.Name, "__Host-") {
			b.t.Errorf("cookie %v", c)
		}
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	if h := w.Header(); !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'; ") || h.Get("Cache-Control") != "no-store" {
		b.t.Error("a page without its rules:", h)
	}
	return w
}

// open opens a page and logs in where that is asked for.
func (b *browser) open(at, user string) *httptest.ResponseRecorder {
	b.t.Helper()
	w := b.do(http.MethodGet, at, "")
	if w.Code != http.StatusSeeOther {
		return w
	}
	w = b.back(w, user)
	if w.Code != http.StatusSeeOther {
		return w
	}
	return b.do(http.MethodGet, base+w.Header().Get("Location"), "")
}

// back comes back from the issuer.
func (b *browser) back(w *httptest.ResponseRecorder, user string) *httptest.ResponseRecorder {
	b.t.Helper()
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || to.Host != "login.example.com" {
		b.t.Fatal(to, err)
	}
	return b.do(http.MethodGet, base+"/credentials/callback?"+url.Values{"state": {to.Query().Get("state")}, "code": {user}}.Encode(), "")
}

func tokenIn(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	m := regexp.MustCompile(`name="token" value="([^"]+)"`).FindStringSubmatch(w.Body.String())
	if m == nil {
		t.Fatalf("no form: %d %s", w.Code, w.Body)
	}
	return m[1]
}

func (f *fixture) stored(subject string) string {
	got, err := f.vault.Get(labelOf(subject))
	if err != nil {
		return ""
	}
	return string(got.Value)
}

func form(token, secret string) string {
	return url.Values{"token": {token}, "secret": {secret}}.Encode()
}

func isDone(r enrollment.Request) bool {
	select {
	case <-r.Done:
		return true
	default:
		return false
	}
}

func TestAUserStoresACredential(t *testing.T) {
	f := newFixture(t)
	q, b := f.ask(t, "alice"), f.browser(t)
	w := b.open(q.URL, "alice")
	text := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(text, "https://api.example.com") || strings.Contains(text, "<b>shop") || strings.Contains(q.URL, "alice") {
		t.Fatal(w.Code, text)
	}
	token := tokenIn(t, w)
	if w = b.do(http.MethodPost, q.URL, form(token, " s3cret \n"), "Origin", base); w.Code != http.StatusOK || f.stored("alice") != "s3cret" || !isDone(q) {
		t.Fatal(w.Code, w.Body, f.stored("alice"))
	}
	if w = b.do(http.MethodPost, q.URL, form(token, "again"), "Origin", base); w.Code != http.StatusNotFound || f.stored("alice") != "s3cret" {
		t.Error("the form was posted twice:", w.Code, f.stored("alice"))
	}
	if strings.Contains(f.log.String(), "s3cret") {
		t.Error(f.log.String())
	}
}

func TestThePageOfSomebodyElseIsRefused(t *testing.T) {
	f := newFixture(t)
	q := f.ask(t, "mallory") // who sends the address to alice
	alice := f.browser(t)
	if w := alice.open(q.URL, "alice"); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "<form") || alice.cookies["__Host-tenon-credentials"] != "" {
		t.Fatal(w.Code, w.Body)
	}
	own := f.ask(t, "alice")
	token := tokenIn(t, alice.open(own.URL, "alice"))
	if w := alice.do(http.MethodPost, q.URL, form(token, "of-alice"), "Origin", base); w.Code != http.StatusForbidden {
		t.Error(w.Code)
	}
	if f.stored("mallory") != "" || f.stored("alice") != "" || isDone(q) || !strings.Contains(f.log.String(), "somebody else") {
		t.Error("stored:", f.stored("mallory"), f.log.String())
	}
	if w := f.browser(t).open(q.URL, "mallory"); w.Code != http.StatusOK {
		t.Error("it is still there for who asked:", w.Code)
	}
}

func TestFormsOfOthersAreRefused(t *testing.T) {
	f := newFixture(t)
	q, b := f.ask(t, "alice"), f.browser(t)
	token := tokenIn(t, b.open(q.URL, "alice"))
	foreign := tokenIn(t, f.browser(t).open(q.URL, "alice")) // another session of hers
	for name, try := range map[string]func() *httptest.ResponseRecorder{
		"no token":      func() *httptest.ResponseRecorder { return b.do(http.MethodPost, q.URL, "secret=x") },
		"a wrong token": func() *httptest.ResponseRecorder { return b.do(http.MethodPost, q.URL, form(foreign, "x")) },
		"two tokens": func() *httptest.ResponseRecorder {
			return b.do(http.MethodPost, q.URL, form(token, "x")+"&token="+token)
		},
		"another origin": func() *httptest.ResponseRecorder {
			return b.do(http.MethodPost, q.URL, form(token, "x"), "Origin", "https://evil.example")
		},
		"no origin": func() *httptest.ResponseRecorder {
			return b.do(http.MethodPost, q.URL, form(token, "x"), "Origin", "null")
		},
		"no cookie": func() *httptest.ResponseRecorder {
			return f.browser(t).do(http.MethodPost, q.URL, form(token, "x"), "Origin", base)
		},
		"in the query": func() *httptest.ResponseRecorder {
			return b.do(http.MethodPost, q.URL+"?"+form(token, "x"), "", "Origin", base)
		},
		"a cookie beside it": func() *httptest.ResponseRecorder {
			return b.do(http.MethodPost, q.URL, form(token, "x"), "Origin", base, "Cookie", "__Host-tenon-credentials=a; __Host-tenon-credentials="+b.cookies["__Host-tenon-credentials"])
		},
	} {
		if w := try(); w.Code != http.StatusForbidden || f.stored("alice") != "" {
			t.Errorf("%s: %d, stored %q", name, w.Code, f.stored("alice"))
		}
	}
	if w := b.do(http.MethodPost, q.URL, form(token, "x"), "Origin", base); w.Code != http.StatusOK {
		t.Error(w.Code, w.Body)
	}
}

func TestALoginBelongsToItsBrowser(t *testing.T) {
	f := newFixture(t)
	q := f.ask(t, "alice")
	evil, alice := f.browser(t), f.browser(t)
	begun := evil.do(http.MethodGet, q.URL, "")
	if w := alice.back(begun, "alice"); w.Code != http.StatusForbidden || len(alice.cookies) != 0 {
		t.Error("without the cookie:", w.Code, alice.cookies)
	}
	alice.do(http.MethodGet, q.URL, "")
	if w := alice.back(begun, "alice"); w.Code != http.StatusForbidden || len(alice.cookies) != 0 {
		t.Error("the state of another login:", w.Code, alice.cookies)
	}
	b := f.browser(t)
	begun = b.do(http.MethodGet, q.URL, "")
	if w := b.back(begun, "alice"); w.Code != http.StatusSeeOther {
		t.Fatal(w.Code)
	}
	if w := b.back(begun, "alice"); w.Code != http.StatusForbidden {
		t.Error("a login used twice:", w.Code)
	}
	b = f.browser(t) // what is sealed for one purpose is not good for another
	b.do(http.MethodGet, q.URL, "")
	b.cookies["__Host-tenon-credentials"] = b.cookies["__Host-tenon-login"]
	if w := b.do(http.MethodGet, base+"/credentials", ""); w.Code != http.StatusSeeOther {
		t.Error("a login is no session:", w.Code)
	}
	other := newFixture(t).browser(t) // another process
	other.cookies = alice.cookies
	if w := other.do(http.MethodGet, base+"/credentials", ""); w.Code != http.StatusSeeOther {
		t.Error(w.Code)
	}
}

func TestEverythingEndsAfterTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		q, b := f.ask(t, "alice"), f.browser(t)
		begun := f.browser(t)
		late := begun.do(http.MethodGet, q.URL, "")
		token := tokenIn(t, b.open(q.URL, "alice"))
		time.Sleep(enrollment.Life - time.Second)
		if q2 := f.ask(t, "alice"); q2.URL == q.URL {
			t.Error("a question that ends soon is asked again")
		}
		time.Sleep(time.Second)
		if w := b.do(http.MethodPost, q.URL, form(token, "x"), "Origin", base); w.Code != http.StatusForbidden || f.stored("alice") != "" {
			t.Error("the session:", w.Code)
		}
		if w := begun.back(late, "alice"); w.Code != http.StatusForbidden {
			t.Error("the login:", w.Code)
		}
		if w := b.open(q.URL, "alice"); w.Code != http.StatusNotFound {
			t.Error("the page:", w.Code)
		}
		fresh := tokenIn(t, b.open(f.ask(t, "alice").URL, "alice"))
		if w := b.do(http.MethodPost, q.URL, form(fresh, "x"), "Origin", base); w.Code != http.StatusNotFound || f.stored("alice") != "" {
			t.Error("the form:", w.Code)
		}
	})
}

func TestQuestionsAreBounded(t *testing.T) {
	f := newFixture(t)
	if a, b := f.ask(t, "alice"), f.ask(t, "alice"); a.URL != b.URL {
		t.Error("one question has two pages")
	}
	l := labelOf("alice")
	var err error
	for i := 0; err == nil && i < 100; i++ {
		l.Scheme += "x"
		_, err = f.Ask(enrollment.Question{Label: l})
	}
	if !errors.Is(err, enrollment.ErrTooMany) {
		t.Error(err)
	}
	f.ask(t, "bob")
}

func TestWhatCannotBeSentIsNotStored(t *testing.T) {
	f := newFixture(t)
	q, b := f.ask(t, "alice"), f.browser(t)
	token := tokenIn(t, b.open(q.URL, "alice"))
	for _, bad := range []string{"", "  ", "a\r\nX: y", "a\x00", "\xff", strings.Repeat("x", vault.MaxValue+1)} {
		if w := b.do(http.MethodPost, q.URL, form(token, bad), "Origin", base); w.Code != http.StatusUnprocessableEntity || f.stored("alice") != "" {
			t.Errorf("%.10q: %d", bad, w.Code)
		}
	}
	if w := b.do(http.MethodPost, q.URL, form(token, strings.Repeat("x", 200<<10)), "Origin", base); w.Code != http.StatusBadRequest {
		t.Error(w.Code)
	}
	f.blobs.full = true
	if w := b.do(http.MethodPost, q.URL, form(token, "good"), "Origin", base); w.Code != http.StatusInsufficientStorage || isDone(q) {
		t.Error("a full disk:", w.Code)
	}
	f.blobs.full = false
	if w := b.do(http.MethodPost, q.URL, form(token, "good"), "Origin", base); w.Code != http.StatusOK || f.stored("alice") != "good" {
		t.Error("afterwards:", w.Code)
	}
}

func TestUserAndPasswordAreOne(t *testing.T) {
	f := newFixture(t)
	q, err := f.Ask(enrollment.Question{Label: labelOf("alice"), Basic: true})
	if err != nil {
		t.Fatal(err)
	}
	b := f.browser(t)
	token := tokenIn(t, b.open(q.URL, "alice"))
	if w := b.do(http.MethodPost, q.URL, form(token, "p")+"&user=a%3Ab"); w.Code != http.StatusUnprocessableEntity {
		t.Error(w.Code)
	}
	if w := b.do(http.MethodPost, q.URL, form(token, " p:w ")+"&user=al"); w.Code != http.StatusOK || f.stored("alice") != "al: p:w " {
		t.Errorf("%d %q", w.Code, f.stored("alice"))
	}
}

func TestUsersSeeAndDeleteTheirOwn(t *testing.T) {
	f := newFixture(t)
	if err := errors.Join(f.vault.Put(labelOf("alice"), "a-value"), f.vault.Put(labelOf("bob"), "b-value")); err != nil {
		t.Fatal(err)
	}
	b := f.browser(t)
	w := b.open(base+"/credentials", "alice")
	if text := w.Body.String(); w.Code != http.StatusOK || strings.Contains(text, "value\"a-") || strings.Contains(text, "-value<") || strings.Count(text, `name="delete"`) != 1 {
		t.Fatal(w.Code, text)
	}
	token := tokenIn(t, w)
	if b.do(http.MethodPost, base+"/credentials", "token="+token+"&delete="+labelOf("bob").Name()); f.stored("bob") == "" {
		t.Error("alice deleted what is bob's")
	}
	if b.do(http.MethodPost, base+"/credentials", "token=x&delete="+labelOf("alice").Name()); f.stored("alice") == "" {
		t.Error("deleted by a form of somebody else")
	}
	if b.do(http.MethodPost, base+"/credentials", "token="+token+"&delete="+labelOf("alice").Name()); f.stored("alice") != "" {
		t.Error("not deleted")
	}
	if w := b.do(http.MethodPut, base+"/credentials", ""); w.Code != http.StatusMethodNotAllowed {
		t.Error(w.Code)
	}
}

func TestThePageHasNoScript(t *testing.T) {
	text, err := os.ReadFile("html.go")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?i)<script|style=|\son\w+=|https?:`).Match(text) {
		t.Error("the policy of the page would not let it")
	}
}
