package enrollment

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/internal/vault"
)

const maxForm = 128 << 10 // bytes: a credential, every byte of it escaped

// view is what a page shows.
type view struct {
	Title    string
	Text     string
	Question *question          // asked by a form; nil: none
	Replaces bool               // there is a credential already
	Token    string             // of the forms
	Who      string             // has logged in; empty: not said
	List     bool               // Stored is shown, also an empty one
	Stored   []vault.Credential // without values
	Problem  string             // of what was typed
}

func (d *Desk) show(w http.ResponseWriter, status int, v *view) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := w.Write(v.html()); err != nil {
		d.log.Debug("a page was not sent", "error", err)
	}
}

func (d *Desk) refuse(w http.ResponseWriter, status int, title, text string) {
	d.show(w, status, &view{Title: title, Text: text})
}

// ServeHTTP serves the pages below [Path].
func (d *Desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", contentPolicy())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // the page's URL is nobody else's business, and forms need their Origin
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	id := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, Path), "/")
	switch {
	case r.Method == http.MethodGet && id == "callback":
		d.callback(w, r)
	case r.Method == http.MethodGet:
		d.get(w, r, id)
	case r.Method == http.MethodPost:
		d.post(w, r, id)
	default:
		h.Set("Allow", "GET, POST")
		d.refuse(w, http.StatusMethodNotAllowed, "Not possible", "")
	}
}

func (d *Desk) get(w http.ResponseWriter, r *http.Request, id string) {
	var q *question
	if id != "" {
		if q = d.find(id); q == nil {
			d.gone(w)
			return
		}
	}
	s := d.session(r)
	switch {
	case s == nil:
		d.toLogin(w, r)
	case q == nil:
		d.list(w, s, "")
	case !d.asked(w, q, s):
	default:
		d.form(w, http.StatusOK, q, s, "")
	}
}

// asked reports whether who has logged in is who asked, and refuses others.
func (d *Desk) asked(w http.ResponseWriter, q *question, s *session) bool {
	if q.Issuer == s.Issuer && q.Subject == s.Subject {
		return true
	}
	d.log.Warn("somebody opened the page of somebody else's credential", "opened", s.Subject, "asked", q.Subject, "source", q.Source, "scheme", q.Scheme)
	end(w, sessionCookie)
	d.refuse(w, http.StatusForbidden, "This page is not for you",
		"It was made for somebody else, who would use what you type. Nothing was stored. If somebody sent you this page, tell your operator. If you have several accounts, log in with the one that your client uses, and open the page again.")
	return false
}

func (d *Desk) gone(w http.ResponseWriter) {
	d.refuse(w, http.StatusNotFound, "This page is no longer there", "It was used, or more than ten minutes have passed. Call the tool again: your client gets a new one.")
}

func (d *Desk) form(w http.ResponseWriter, status int, q *question, s *session, problem string) {
	_, err := d.vault.Get(q.Label)
	d.show(w, status, &view{Title: "Credential for " + q.Service, Question: q, Replaces: err == nil, Token: s.Token, Who: s.Subject, Problem: problem})
}

func (d *Desk) list(w http.ResponseWriter, s *session, text string) {
	all, err := d.vault.List(s.Issuer, s.Subject)
	if err != nil {
		d.log.Error("stored credentials cannot be listed", "error", err)
		d.refuse(w, http.StatusInternalServerError, "Your credentials cannot be read now", "Tell your operator.")
		return
	}
	d.show(w, http.StatusOK, &view{Title: "Your stored credentials", Text: text, Token: s.Token, Who: s.Subject, List: true, Stored: all})
}

// post takes a form. It is from a page of ours, of this browser's session.
func (d *Desk) post(w http.ResponseWriter, r *http.Request, id string) {
	s := d.session(r)
	if origin := r.Header["Origin"]; s == nil || len(origin) > 1 || len(origin) == 1 && origin[0] != d.base {
		d.refuse(w, http.StatusForbidden, "You are not logged in", "Nothing was stored. Open the page again from your client.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		d.refuse(w, http.StatusBadRequest, "Too much", "Nothing was stored: what was typed is too long or malformed.")
		return
	}
	if token := r.PostForm["token"]; len(token) != 1 || subtle.ConstantTimeCompare([]byte(token[0]), []byte(s.Token)) != 1 {
		d.refuse(w, http.StatusForbidden, "This form is not from here", "Nothing was stored. Open the page again from your client.")
		return
	}
	if id == "" {
		d.remove(w, r, s)
		return
	}
	q := d.find(id)
	if q == nil {
		d.gone(w)
		return
	}
	if d.asked(w, q, s) {
		d.store(w, r, q, s)
	}
}

// store stores what was typed, once.
func (d *Desk) store(w http.ResponseWriter, r *http.Request, q *question, s *session) {
	value, problem := typed(r, q.Basic)
	if problem != "" {
		d.form(w, http.StatusUnprocessableEntity, q, s, problem)
		return
	}
	if !d.claim(q) {
		d.gone(w)
		return
	}
	if err := d.vault.Put(q.Label, value); err != nil {
		d.giveBack(q)
		d.log.Error("a credential cannot be stored", "source", q.Source, "scheme", q.Scheme, "error", err)
		problem = "It cannot be stored now, and nothing was. Try again later, or tell your operator."
		if errors.Is(err, vault.ErrFull) {
			problem = "Nothing was stored: you have too many credentials here. Delete one first."
		}
		d.form(w, http.StatusInsufficientStorage, q, s, problem)
		return
	}
	close(q.done)
	d.log.Info("a user stored a credential", "subject", q.Subject, "source", q.Source, "scheme", q.Scheme, "origin", q.Origin)
	d.show(w, http.StatusOK, &view{Title: "Stored", Text: "Go back to your client: the call goes on, or can be made again. You can close this page.", Who: s.Subject})
}

// typed is the credential of a form, as it is sent; problem says what is wrong with it.
func typed(r *http.Request, basic bool) (value vault.Secret, problem string) {
	text := strings.TrimSpace(r.PostForm.Get("secret"))
	if basic {
		user := strings.TrimSpace(r.PostForm.Get("user"))
		if user == "" || strings.Contains(user, ":") {
			return "", "A user name is needed, without a colon."
		}
		text = user + ":" + r.PostForm.Get("secret")
	}
	switch {
	case text == "":
		return "", "Nothing was typed."
	case len(text) > vault.MaxValue:
		return "", "This is too long."
	case strings.ToValidUTF8(text, "") != text || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "", "This has a line break or another character that cannot be sent."
	}
	return vault.Secret(text), ""
}

// remove deletes one of the user's own credentials.
func (d *Desk) remove(w http.ResponseWriter, r *http.Request, s *session) {
	all, err := d.vault.List(s.Issuer, s.Subject)
	for i := range all {
		if err == nil && all[i].Name() == r.PostForm.Get("delete") {
			err = d.vault.Delete(all[i].Label)
			if err == nil {
				d.log.Info("a user deleted a credential", "subject", s.Subject, "source", all[i].Source, "scheme", all[i].Scheme)
			}
		}
	}
	if err != nil {
		d.log.Error("a credential cannot be deleted", "error", err)
		d.refuse(w, http.StatusInternalServerError, "It cannot be deleted now", "Tell your operator.")
		return
	}
	d.list(w, s, "")
}

// until is when a page ends, for people.
func (q *question) until() string { return q.expires.UTC().Format("15:04 MST") }

// day is a date, for people.
func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
