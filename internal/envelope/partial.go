package envelope

import (
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Part describes the part of a value that a result has.
type Part struct {
	Number, Of      int       // Number counts from 1; Of is 0 if it is unknown
	Cuts            []string  // JSON Pointers of the lists, objects and texts that are split
	Continued       []string  // of those, lists whose first item continues the last one of the previous part
	Several         bool      // the value is split in more than one place
	Text            bool      // a text is split: bytes are counted
	Returned, Total int       // items in this part and in all; Total is unknown if Of is
	By              string    // name of the tool that returns the next part
	Token           string    // for the next part; empty: this is the last
	Until           time.Time // when the token expires
}

// Meta is the _meta object of a part.
func (p *Part) Meta() []byte {
	dst := append([]byte(`{"tenon/partial":{"part":`), strconv.Itoa(p.Number)...)
	if p.Of > 0 {
		dst = append(append(dst, `,"parts":`...), strconv.Itoa(p.Of)...)
	}
	dst = rawjson.AppendString(append(dst, `,"pointer":`...), p.cut())
	if p.Several {
		dst = appendList(append(dst, `,"pointers":`...), p.Cuts)
	}
	if len(p.Continued) > 0 {
		dst = appendList(append(dst, `,"continued":`...), p.Continued)
	}
	dst = append(append(dst, `,"returned":`...), strconv.Itoa(p.Returned)...)
	if p.Of > 0 {
		dst = append(append(dst, `,"total":`...), strconv.Itoa(p.Total)...)
	}
	if p.Token != "" {
		dst = rawjson.AppendString(append(dst, `,"resume_token":`...), p.Token)
		dst = rawjson.AppendString(append(dst, `,"expires":`...), p.Until.UTC().Format(time.RFC3339))
	}
	return append(dst, "}}"...)
}

// ListOf writes texts as a JSON list.
func ListOf(texts []string) []byte { return appendList(nil, texts) }

// TextsOf reads a JSON list of texts.
func TextsOf(list []byte) (texts []string) {
	for text := range rawjson.Leaves(list) {
		texts = append(texts, string(rawjson.AppendUnescaped(nil, text[1:len(text)-1])))
	}
	return texts
}

func appendList(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, s)
	}
	return append(dst, ']')
}

// cut returns the first place that is split; the empty pointer if none is known.
func (p *Part) cut() string {
	if len(p.Cuts) == 0 {
		return ""
	}
	return p.Cuts[0]
}

// OpenAPIMCP adds the members of a part to an api_response. The last part has
// partial: false, because clients continue while it is true.
func (p *Part) OpenAPIMCP(response []byte) []byte {
	dst := response[:len(response)-1]
	if p.Token == "" {
		return append(dst, `,"partial":false}`...)
	}
	dst = rawjson.AppendString(append(dst, `,"partial":true,"resume_token":`...), p.Token)
	return append(dst, '}')
}

// maxNamed bounds the places that the text of a part names.
const maxNamed = 3

// Words tells the model how to continue.
func (p *Part) Words() string {
	text := p.number() + ": " + strconv.Itoa(p.Returned)
	if p.Of > 0 {
		text += " of " + strconv.Itoa(p.Total)
	}
	switch at := places(p.Cuts); {
	case p.Text && p.cut() != "":
		text += " bytes of the text at " + at + "."
	case p.Text:
		text += " bytes of the text."
	case len(p.Cuts) < 2 && p.cut() == "":
		text += " items of the list."
	default:
		text += " items of " + at + "."
	}
	if len(p.Continued) > 0 {
		text += " The first item of " + places(p.Continued) + " here is the rest of the last one before."
	}
	return text + " " + p.Next()
}

// OwnWords is Words for a part of texts that a source made.
func (p *Part) OwnWords() string {
	text := p.number() + " of a long text."
	if len(p.Continued) > 0 {
		text += " It begins where the one before ended."
	}
	return text + " " + p.Next()
}

func (p *Part) number() string {
	text := "This is part " + strconv.Itoa(p.Number)
	if p.Of > 0 {
		text += " of " + strconv.Itoa(p.Of)
	}
	return text
}

// Next says how to get the next part.
func (p *Part) Next() string {
	if p.Token == "" {
		return "It is the last one."
	}
	return `For the next one call ` + p.By + ` with {"resume_token":"` + p.Token + `"}.`
}

// places lists some pointers; that of the whole value is left out.
func places(pointers []string) string {
	var names []string
	for _, p := range pointers[:min(len(pointers), maxNamed)] {
		if p == "" {
			p = "the whole"
		}
		names = append(names, p)
	}
	if more := len(pointers) - len(names); more > 0 {
		names = append(names, strconv.Itoa(more)+" more")
	}
	return strings.Join(names, " and ")
}
