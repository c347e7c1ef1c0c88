package shape

import (
	"strconv"
	"time"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Part says which part of an answer stands in a result.
type Part struct {
	Number, Of      int // Number counts from 1
	Cut             string
	Returned, Total int       // items of the array at Cut: in this part, in all
	Token           string    // for the next part; empty: this is the last
	Until           time.Time // how long the token is good
}

// Meta is the _meta object of a part.
func (p *Part) Meta() []byte {
	dst := append([]byte(`{"tenon/partial":{"part":`), strconv.Itoa(p.Number)...)
	dst = append(append(dst, `,"parts":`...), strconv.Itoa(p.Of)...)
	dst = rawjson.AppendString(append(dst, `,"cut":`...), p.Cut)
	dst = append(append(dst, `,"returned":`...), strconv.Itoa(p.Returned)...)
	dst = append(append(dst, `,"total":`...), strconv.Itoa(p.Total)...)
	if p.Token != "" {
		dst = rawjson.AppendString(append(dst, `,"resume_token":`...), p.Token)
		dst = rawjson.AppendString(append(dst, `,"expires":`...), p.Until.UTC().Format(time.RFC3339))
	}
	return append(dst, "}}"...)
}

// Over is the _meta object of an answer above the limit that is one piece.
func Over(size, limit int) []byte {
	return append(strconv.AppendInt(append(strconv.AppendInt([]byte(`{"tenon/partial":{"over":true,"bytes":`), int64(size), 10), `,"limit":`...), int64(limit), 10), "}}"...)
}

// OpenAPIMCP adds the members of a part to an api_response.
func (p *Part) OpenAPIMCP(response []byte) []byte {
	dst := append(response[:len(response)-1], `,"partial":true`...)
	if p.Token != "" {
		dst = rawjson.AppendString(append(dst, `,"resume_token":`...), p.Token)
	}
	return append(dst, '}')
}

// Words say to the model how to go on.
func (p *Part) Words() string {
	at := p.Cut
	if at == "" {
		at = "the list"
	}
	text := "This is part " + strconv.Itoa(p.Number) + " of " + strconv.Itoa(p.Of) + ": " +
		strconv.Itoa(p.Returned) + " of " + strconv.Itoa(p.Total) + " items of " + at + "."
	if p.Token == "" {
		return text + " It is the last one."
	}
	return text + ` For the next one call next_part with {"resume_token":"` + p.Token + `"}.`
}
