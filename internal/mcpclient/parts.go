package mcpclient

import (
	"errors"
	"fmt"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// An answer that is large or that arrives bit by bit comes in parts. The rest of
// one is kept by the process that made the call, so who reads only the first
// part has lost the others.

// Part says of a result which part of an answer it is. The zero value: it is the
// whole one.
type Part struct {
	Cut       string   // JSON Pointer in the answer's value: what goes on in the next part
	Cuts      []string // where the answer goes on in several places: those of this part
	Continued []string // of these the lists whose first item is the rest of the last one before
	Token     string   // for the next part; empty: there is none
}

// PartOf reads it from the _meta of a result.
func PartOf(meta []byte) Part {
	doc, err := rawjson.Parse(meta)
	if err != nil {
		return Part{}
	}
	n := doc.Get(doc.Root(), "tenon/partial")
	p := Part{Cut: doc.Str(doc.Get(n, "pointer")), Token: doc.Str(doc.Get(n, "resume_token"))}
	list := func(name string) (all []string) {
		of := doc.Get(n, name)
		for c := doc.First(of); c != rawjson.None; c = doc.Next(c) {
			all = append(all, doc.Str(c))
		}
		return all
	}
	p.Cuts, p.Continued = list("pointers"), list("continued")
	return p
}

// IncompleteError says that a part of an answer is missing.
type IncompleteError struct {
	After int // parts that came
	Err   error
}

func (e *IncompleteError) Error() string {
	return fmt.Sprintf("the answer is not whole: what follows part %d is missing: %v", e.After, e.Err)
}

func (e *IncompleteError) Unwrap() error { return e.Err }

// Follow hands over the parts of an answer in their order. ask makes the call of
// the same tool that brings the next one, with these arguments. Where that fails,
// or its result is a failure, the error is an [*IncompleteError], as it is where
// add fails.
func Follow(first *tenon.Result, ask func(args []byte) (*tenon.Result, error), add func(*tenon.Result, Part) error) error {
	res := first
	for n := 1; ; n++ {
		here := PartOf(res.Meta)
		err := add(res, here)
		if err == nil && here.Token == "" {
			return nil
		}
		if err == nil {
			res, err = ask(append(rawjson.AppendString([]byte(`{"resume_token":`), here.Token), '}'))
		}
		if err == nil && res.IsError {
			err = errors.New(res.Message)
		}
		if err != nil {
			return &IncompleteError{n, err}
		}
	}
}
