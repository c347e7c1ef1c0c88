package shape

import (
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Part says which part of an answer stands in a result.
type Part struct {
	Number, Of      int       // Number counts from 1; Of is 0 where nobody knows yet
	Cuts            []string  // JSON Pointers of the lists and objects whose items are in parts
	Text            bool      // a text is cut, and its bytes are counted
	Returned, Total int       // items of those: in this part, in all; nobody knows the latter without Of
	By              string    // the tool that hands out the next part
	Token           string    // for the next part; empty: this is the last
	Until           time.Time // how long the token is good
}

// Meta is the _meta object of a part.
func (p *Part) Meta() []byte {
	dst := append([]byte(`{"tenon/partial":{"part":`), strconv.Itoa(p.Number)...)
	if p.Of > 0 {
		dst = append(append(dst, `,"parts":`...), strconv.Itoa(p.Of)...)
	}
	dst = rawjson.AppendString(append(dst, `,"cut":`...), p.cut())
	if len(p.Cuts) > 1 {
		dst = append(dst, `,"cuts":`...)
		for i, at := range p.Cuts {
			dst = rawjson.AppendString(append(dst, "[,"[min(i, 1)]), at)
		}
		dst = append(dst, ']')
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

// cut is the first place that is cut; the list itself if none is told.
func (p *Part) cut() string {
	if len(p.Cuts) == 0 {
		return ""
	}
	return p.Cuts[0]
}

// OpenAPIMCP adds the members of a part to an api_response. The last part says
// that nothing is missing any more: clients ask on while partial is true.
func (p *Part) OpenAPIMCP(response []byte) []byte {
	dst := response[:len(response)-1]
	if p.Token == "" {
		return append(dst, `,"partial":false}`...)
	}
	dst = rawjson.AppendString(append(dst, `,"partial":true,"resume_token":`...), p.Token)
	return append(dst, '}')
}

// Words say to the model how to go on.
func (p *Part) Words() string {
	at := strings.Join(p.Cuts, " and ")
	if p.cut() == "" {
		at = "the list"
	}
	text := "This is part " + strconv.Itoa(p.Number)
	if p.Of > 0 {
		text += " of " + strconv.Itoa(p.Of)
	}
	text += ": " + strconv.Itoa(p.Returned)
	if p.Of > 0 {
		text += " of " + strconv.Itoa(p.Total)
	}
	if p.Text {
		text += " bytes of the text"
		if p.cut() != "" {
			text += " at " + p.cut()
		}
		text += "."
	} else {
		text += " items of " + at + "."
	}
	if p.Token == "" {
		return text + " It is the last one."
	}
	return text + ` For the next one call ` + p.By + ` with {"resume_token":"` + p.Token + `"}.`
}
