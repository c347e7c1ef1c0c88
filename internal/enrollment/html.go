package enrollment

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/tenon-mcp/tenon/internal/markup"
)

// contentPolicy allows the style of the pages and nothing else.
func contentPolicy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
}

// html is the page that shows v.
func (v *view) html() []byte {
	var w markup.Writer
	w.Add(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>%s</title>
`, v.Title)
	w.Add("<style>" + style + "</style>\n</head>\n<body>\n<main>\n")
	w.Add("<h1>%s</h1>\n", v.Title)
	w.AddIf(v.Text, "<p>%s</p>\n")
	w.AddIf(v.Problem, `<p class="problem" role="alert">%s</p>`+"\n")
	if v.Question != nil {
		v.form(&w)
	}
	if v.List {
		v.list(&w)
	}
	w.AddIf(v.Who, `<p class="soft">Logged in as %s</p>`+"\n")
	w.Add("</main>\n</body>\n</html>\n")
	return w.Bytes()
}

// form asks the question.
func (v *view) form(w *markup.Writer) {
	q := v.Question
	if v.Replaces {
		w.Add("<p>A call that you made needs another credential: the service refused the one that you have stored, or you replace it.</p>\n")
	} else {
		w.Add("<p>A call that you made needs a credential of your own.</p>\n")
	}
	w.Add(`<dl>
<dt>Service</dt><dd>%s</dd>
<dt>Sent only to</dt><dd><strong>%s</strong></dd>
<dt>Kind</dt><dd>%s, %s</dd>
</dl>
<form method="post" autocomplete="off">
<input type="hidden" name="token" value="%s">
`, q.Service, q.Origin, q.Scheme, q.Kind, v.Token)
	if q.Basic {
		w.Add(`<label for="user">User name</label>
<input id="user" name="user" required autocomplete="off" autocapitalize="none" spellcheck="false">
<label for="secret">Password</label>
`)
	} else {
		w.Add(`<label for="secret">Key or token</label>` + "\n")
	}
	w.Add(`<input id="secret" name="secret" type="password" required autocomplete="off" spellcheck="false">
<button>Store</button>
</form>
<p class="soft">It is encrypted here and used for your own calls alone. Neither your client nor its model sees it. This page ends at %s.</p>
`, q.until())
}

// list shows what is stored.
func (v *view) list(w *markup.Writer) {
	if len(v.Stored) == 0 {
		w.Add("<p>There are none.</p>\n")
		return
	}
	w.Add("<ul>")
	for i := range v.Stored {
		c := &v.Stored[i]
		w.Add(`<li>
<dl>
<dt>Source</dt><dd>%s</dd>
<dt>Sent only to</dt><dd><strong>%s</strong></dd>
<dt>Kind</dt><dd>%s</dd>
<dt>Stored</dt><dd>%s</dd>
</dl>
`, c.Source, c.Origin, c.Scheme, day(c.Stored))
		w.Add(`<form method="post" action="`+Path+`">
<input type="hidden" name="token" value="%s">
<input type="hidden" name="delete" value="%s">
<button class="quiet" aria-label="Delete the credential %s of %s">Delete</button>
</form>
</li>
`, v.Token, c.Name(), c.Scheme, c.Source)
	}
	w.Add("</ul>\n")
}

const style = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #fff; --back: #f3f5f7; --act: #1f5fbf; --bad: #a4161a }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa5b1; --line: #3a434d; --paper: #171c22; --back: #0d1117; --act: #6ea8fe; --bad: #ff8f8f } }
* { box-sizing: border-box }
body { margin: 0; padding: 2rem 1rem; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 0 auto; padding: 1.75rem; background: var(--paper); border: 1px solid var(--line); border-radius: 10px }
h1 { margin: 0 0 1rem; font-size: 1.35rem; overflow-wrap: anywhere }
p { margin: 0 0 1rem; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1rem; margin: 0 0 1.25rem }
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere }
label { display: block; margin: 0 0 .25rem; font-weight: 600 }
input { width: 100%; margin: 0 0 1rem; padding: .55rem .7rem; font: inherit; color: inherit; background: var(--back); border: 1px solid var(--soft); border-radius: 6px }
button { padding: .55rem 1.1rem; font: inherit; font-weight: 600; color: var(--paper); background: var(--act); border: 0; border-radius: 6px; cursor: pointer }
button.quiet { padding: .2rem .7rem; color: var(--bad); background: none; border: 1px solid var(--bad) }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px }
.problem { padding: .6rem .8rem; color: var(--bad); border: 1px solid var(--bad); border-radius: 6px }
.soft { margin: 1.25rem 0 0; color: var(--soft); font-size: .875rem }
ul { margin: 0; padding: 0; list-style: none }
li { padding: .9rem 0; border-top: 1px solid var(--line) }
`
