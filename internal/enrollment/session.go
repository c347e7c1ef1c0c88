package enrollment

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/auth"
)

// Rule of this file: what a browser has to remember is in its cookies, sealed with a
// key of this process, so that nobody without an account costs memory here.

const (
	loginCookie   = "__Host-tenon-login"
	sessionCookie = "__Host-tenon-credentials"
)

// attempt is a login that a browser has begun.
type attempt struct {
	auth.LoginAttempt
	Back    string    `json:"back"` // the path that it wanted
	Expires time.Time `json:"expires"`
}

// session is who has logged in.
type session struct {
	Issuer  string    `json:"issuer"`
	Subject string    `json:"subject"`
	Token   string    `json:"token"` // in every form, against those of other sites
	Expires time.Time `json:"expires"`
}

type sealer struct{ aead cipher.AEAD }

func newSealer() (sealer, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return sealer{aead}, err
}

// set writes a cookie that only this process reads, and only by its name. An empty
// value ends it.
func (s sealer) set(w http.ResponseWriter, name string, value any) error {
	plain, err := json.Marshal(value)
	if err != nil {
		return err
	}
	text := base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, []byte(name))) //nolint:gosec // the AEAD makes its own random nonce
	http.SetCookie(w, &http.Cookie{Name: name, Value: text, Path: "/", MaxAge: int(Life / time.Second), Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	return nil
}

func end(w http.ResponseWriter, name string) {
	http.SetCookie(w, &http.Cookie{Name: name, Path: "/", MaxAge: -1, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

// get reads a cookie of this process. A name that comes twice is refused: somebody
// may have put one beside it.
func (s sealer) get(r *http.Request, name string, into any) error {
	all := r.CookiesNamed(name)
	if len(all) != 1 || len(all[0].Value) > 8<<10 {
		return http.ErrNoCookie
	}
	sealed, err := base64.RawURLEncoding.DecodeString(all[0].Value)
	if err != nil {
		return err
	}
	plain, err := s.aead.Open(nil, nil, sealed, []byte(name))
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, into)
}

// session returns who has logged in with this browser; nil: nobody.
func (d *Desk) session(r *http.Request) *session {
	var s session
	if d.seal.get(r, sessionCookie, &s) != nil || s.Subject == "" || !time.Now().Before(s.Expires) {
		return nil
	}
	return &s
}

// toLogin sends a browser to the issuer.
func (d *Desk) toLogin(w http.ResponseWriter, r *http.Request) {
	page, began, err := d.login().BeginLogin(r.Context(), d.base+Path+"/callback")
	if err == nil {
		err = d.seal.set(w, loginCookie, attempt{LoginAttempt: began, Back: r.URL.Path, Expires: time.Now().Add(Life)})
	}
	if err != nil {
		d.log.Error("nobody can log in to store a credential", "error", err)
		d.refuse(w, http.StatusServiceUnavailable, "You cannot log in now", "The server that knows you cannot be reached. Try again later.")
		return
	}
	w.Header().Set("Location", page)
	w.WriteHeader(http.StatusSeeOther)
}

// callback is where the issuer sends a browser back to.
func (d *Desk) callback(w http.ResponseWriter, r *http.Request) {
	who, back, err := d.finish(r)
	end(w, loginCookie)
	if err != nil {
		d.refuse(w, http.StatusForbidden, "You are not logged in", "Open the page again from your client: "+err.Error()+".")
		return
	}
	s := session{Issuer: who.Issuer, Subject: who.Subject, Token: rand.Text(), Expires: time.Now().Add(Life)}
	if err := d.seal.set(w, sessionCookie, s); err != nil {
		d.refuse(w, http.StatusInternalServerError, "You are not logged in", "Something went wrong here.")
		return
	}
	http.Redirect(w, r, back, http.StatusSeeOther) //nolint:gosec // a path below Path, which was sealed here
}

func (d *Desk) finish(r *http.Request) (who *auth.Caller, back string, err error) {
	var began attempt
	if d.seal.get(r, loginCookie, &began) != nil {
		return nil, "", errors.New("this browser has not begun a login")
	}
	if !time.Now().Before(began.Expires) {
		return nil, "", errors.New("the login took too long")
	}
	came, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, "", errors.New("the answer of the login is malformed")
	}
	if who, err = d.login().FinishLogin(r.Context(), began.LoginAttempt, came); err != nil {
		return nil, "", err
	}
	if began.Back != Path && !strings.HasPrefix(began.Back, Path+"/") {
		began.Back = Path
	}
	return who, began.Back, nil
}
