package openapi

import (
	"maps"
	"net/http"
	"strings"
)

// headers copies the fixed headers and adds those of the arguments.
func (p *plan) headers(root argument) (http.Header, error) {
	fixed := p.header()
	h := make(http.Header, len(fixed)+2)
	maps.Copy(h, fixed)
	for i := range p.params {
		q := &p.params[i]
		if q.in != inHeader {
			continue
		}
		v, given, err := q.value(root)
		if err != nil {
			return nil, err
		}
		if !given || v.isVoid() && !q.json {
			continue
		}
		text, err := q.headerText(v)
		if err != nil {
			return nil, err
		}
		if q.wire == "Cookie" {
			if err := p.guarded.checkCookies(q.arg, text); err != nil {
				return nil, err
			}
		}
		h[q.wire] = []string{text}
	}
	cookies, err := p.cookies(root)
	if err != nil {
		return nil, err
	}
	if cookies != "" {
		h["Cookie"] = []string{strings.Join(append(h["Cookie"], cookies), "; ")}
	}
	return h, nil
}

// headerText refuses what could end the line. Header values are not
// percent-encoded (3.1.1, appendix D).
func (q *parameter) headerText(v argument) (string, error) {
	b := q.append(nil, v)
	if len(b) > maxLine {
		return "", tooLong("the header "+q.wire, maxLine)
	}
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return "", invalid("argument %s holds a control character; a header cannot", q.arg)
		}
	}
	return strings.Trim(string(b), " \t"), nil
}

// cookies is the line of all cookies; their values are percent-encoded, so none
// can begin another.
func (p *plan) cookies(root argument) (string, error) {
	var line []byte
	for i := range p.params {
		q := &p.params[i]
		if q.in != inCookie {
			continue
		}
		v, given, err := q.value(root)
		if err != nil {
			return "", err
		}
		if !given {
			continue
		}
		if len(line) > 0 {
			line = append(line, "; "...)
		}
		mark := len(line)
		line = q.append(line, v)
		if err := p.guarded.checkCookies(q.arg, string(line[mark:])); err != nil && !q.hidden {
			return "", err
		}
		if len(line) > maxLine {
			return "", tooLong("the cookies", maxLine)
		}
	}
	return strings.TrimSuffix(string(line), "; "), nil
}
