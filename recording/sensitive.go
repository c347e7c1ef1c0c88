package recording

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Rule of this file: what an upstream hands out as a token, a password or a signed
// URL is recognized by the name of its member or by its form, because nobody knows
// the value beforehand.

// secretNames are names of members and parameters whose values are secrets, in
// lower case without - and _.
var secretNames = map[string]bool{ //nolint:gochecknoglobals // a table
	"accesstoken": true, "refreshtoken": true, "idtoken": true, "authtoken": true, "sessiontoken": true, "securitytoken": true, "bearertoken": true,
	"apitoken": true, "csrftoken": true, "xsrftoken": true, "clientassertion": true, "subjecttoken": true, "actortoken": true, "devicecode": true,
	"jwt": true, "password": true, "passwd": true, "passphrase": true, "secret": true, "clientsecret": true, "secretkey": true, "secretaccesskey": true,
	"apikey": true, "apisecret": true, "privatekey": true, "authorization": true, "sessionid": true, "signingkey": true, "connectionstring": true,
	"xamzsignature": true, "xamzcredential": true, "xamzsecuritytoken": true, "xgoogsignature": true, "xgoogcredential": true, "awsaccesskeyid": true,
	"codeverifier": true, "otp": true,
}

// signatureNames are parameters of signed URLs.
var signatureNames = map[string]bool{"sig": true, "signature": true, "keypairid": true, "policy": true, "hmac": true} //nolint:gochecknoglobals // a table

func plainName(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(name), "-", ""), "_", "")
}

// isSecretMember reports whether a member's value is a secret. The names of pages
// (next_page_token) are none of them: without their values nobody can go on.
func isSecretMember(name, value string) bool {
	name = plainName(name)
	return secretNames[name] || name == "token" && looksMinted(value)
}

// looksMinted tells a token from other things that are called so, such as the
// address or the sign of a coin.
func looksMinted(value string) bool {
	return len(value) >= 16 && !strings.HasPrefix(value, "0x") && !strings.ContainsAny(value, " \n")
}

const signedValue = `(?:[A-Za-z0-9._~+/-]|%(?:25)?(?:2[BbFf]|3[Dd]))+=*`

var (
	// signedParameter is a parameter of a signed URL in any text: the URL may be
	// percent-encoded itself, and & be escaped for JSON or HTML.
	signedParameter = regexp.MustCompile(`(?i)(X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|AWSAccessKeyId|Key-Pair-Id|access_token|(?:\b|\\u0026|%26|%2526)(?:Signature|sig))(=|%3D|%253D)` + signedValue)
	// mintedText are tokens that are known by their form: JSON Web Tokens, and those
	// of large services, which have prefixes so that they are found.
	mintedText = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|sk_live_|rk_live_|AKIA|ASIA)[A-Za-z0-9_-]{16,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----`)
	// mintedStarts are in every text that mintedText matches: most texts have none, and
	// it is slow.
	mintedStarts = []string{"eyJ", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "sk-", "sk_live_", "rk_live_", "AKIA", "ASIA", "-----BEGIN "} //nolint:gochecknoglobals // a table
	element      = regexp.MustCompile(`<([A-Za-z_][\w.:-]*)>([^<]+)</`)
)

// withoutForms replaces what is recognized by its form, and elements of XML by
// their names.
func withoutForms(text string) string {
	if strings.Contains(text, "=") || strings.Contains(text, "%3") || strings.Contains(text, "%253") {
		text = signedParameter.ReplaceAllString(text, "${1}${2}"+placeholder)
	}
	if slices.ContainsFunc(mintedStarts, func(start string) bool { return strings.Contains(text, start) }) {
		text = mintedText.ReplaceAllString(text, placeholder)
	}
	if strings.Contains(text, "</") {
		text = element.ReplaceAllStringFunc(text, func(all string) string {
			m := element.FindStringSubmatch(all)
			if _, local, ok := strings.Cut(m[1], ":"); ok && isSecretMember(local, m[2]) || isSecretMember(m[1], m[2]) {
				return "<" + m[1] + ">" + placeholder + "</"
			}
			return all
		})
	}
	return text
}

// withoutParameters replaces values of parameters with such names, in a query or a
// form. The rest stays as it was written.
func withoutParameters(query string, known func(string) (string, bool)) string {
	if query == "" {
		return ""
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if !found || err != nil {
			continue
		}
		text, err := url.QueryUnescape(value)
		if err != nil {
			text = value
		}
		if instead, is := known(text); is {
			pairs[i] = name + "=" + url.QueryEscape(instead)
		} else if isSecretMember(plain, text) || signatureNames[plainName(plain)] {
			pairs[i] = name + "=" + placeholder
		}
	}
	return strings.Join(pairs, "&")
}

// withoutMembers replaces members of a JSON text with such names, and what
// pointers name; * in a pointer stands for every member and item. Of a stream each
// line is a text, behind the data: of an event too. What is not JSON is returned
// unchanged.
func withoutMembers(text []byte, pointers [][]string) []byte {
	if !bytes.ContainsAny(text, "{[") {
		return text
	}
	doc, err := rawjson.Parse(text)
	if err != nil {
		return membersOfLines(text, pointers)
	}
	return membersOf(doc, text, pointers)
}

func membersOfLines(text []byte, pointers [][]string) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		before, value := []byte(nil), line
		if rest, is := bytes.CutPrefix(line, []byte("data:")); is {
			before, value = line[:len(line)-len(rest)], rest
		}
		out = append(out, before...)
		if doc, err := rawjson.Parse(value); err == nil {
			value = membersOf(doc, value, pointers)
		}
		out = append(out, value...)
	}
	return out
}

func membersOf(doc *rawjson.Doc, text []byte, pointers [][]string) []byte {
	w := memberWalk{doc: doc}
	w.walk(doc.Root(), "", pointers)
	if w.edits == nil {
		return text
	}
	var out []byte
	at := 0
	src := doc.Source()
	for _, e := range w.edits {
		out = append(append(out, src[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, src[at:]...)
}

type memberWalk struct {
	doc   *rawjson.Doc
	edits []memberEdit // in the order of the text
}

type memberEdit struct {
	from, to int
	text     string
}

// walk visits n, the value of a member, with what of the pointers is left.
func (w *memberWalk) walk(n rawjson.Node, name string, pointers [][]string) {
	for _, p := range pointers {
		if len(p) == 0 {
			w.blank(n)
			return
		}
	}
	switch w.doc.Kind(n) {
	case rawjson.Object:
		for c := w.doc.First(n); c != rawjson.None; c = w.doc.Next(c) {
			key := w.doc.Key(c)
			w.walk(c, key, below(pointers, key))
		}
	case rawjson.Array:
		i := 0
		for c := w.doc.First(n); c != rawjson.None; c = w.doc.Next(c) {
			w.walk(c, name, below(pointers, strconv.Itoa(i)))
			i++
		}
	case rawjson.String:
		if isSecretMember(name, w.doc.Str(n)) {
			w.blank(n)
		}
	case rawjson.Number:
		if secretNames[plainName(name)] {
			w.blank(n)
		}
	}
}

// blank replaces every text and number of a value, so that its types stay.
func (w *memberWalk) blank(n rawjson.Node) {
	switch w.doc.Kind(n) {
	case rawjson.Object, rawjson.Array:
		for c := w.doc.First(n); c != rawjson.None; c = w.doc.Next(c) {
			w.blank(c)
		}
	case rawjson.String:
		w.edit(n, `"`+placeholder+`"`)
	case rawjson.Number:
		w.edit(n, "0")
	}
}

func (w *memberWalk) edit(n rawjson.Node, text string) {
	from := w.doc.Offset(n)
	w.edits = append(w.edits, memberEdit{from, from + len(w.doc.Raw(n)), text})
}

// below is what is left of the pointers below a member.
func below(pointers [][]string, key string) (left [][]string) {
	for _, p := range pointers {
		if len(p) > 0 && (p[0] == key || p[0] == "*") {
			left = append(left, p[1:])
		}
	}
	return left
}
