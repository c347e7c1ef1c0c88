package toolcase

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Outcome is what became of a case.
type Outcome string

// The outcomes.
const (
	Pass      Outcome = "pass"
	Failed    Outcome = "failed"    // not as expected
	Violation Outcome = "violation" // the response violates its schema
	Empty     Outcome = "empty"     // a success without data
	Skipped   Outcome = "skipped"   // not run
)

// Result is a case that was run, or why not.
type Result struct {
	Case     *Case
	Outcome  Outcome
	Why      string
	Places   []string // of violations: what was expected where
	Duration time.Duration
}

// Judge compares the result of a call with what is expected. failed is the error of
// a call without a result.
func Judge(c *Case, res *tenon.Result, failed error) (Outcome, string, []string) {
	if failed != nil {
		if code := tenon.CodeOf(failed); c.Expect.Error != "" && code == c.Expect.Error {
			return Pass, "", nil
		}
		return Failed, failed.Error(), nil
	}
	places := violations(res)
	if err := c.Expect.judge(res); err != nil {
		if places != nil && (res.Code == tenon.CodeContract || !res.IsError) && c.Expect.Error == "" {
			return Violation, strings.Join(places, "\n"), places
		}
		return Failed, err.Error(), places
	}
	if c.Expect.NotNull && !res.IsError {
		switch strings.TrimSpace(string(res.Value)) {
		case "", "null", "[]", "{}", `""`:
			return Empty, "the answer has no data", nil
		}
	}
	return Pass, "", nil
}

func (e *Expect) judge(res *tenon.Result) error {
	switch {
	case res.IsError && res.Code == tenon.CodeContract && e.Error != tenon.CodeContract:
		return errors.New("the response violates its schema")
	case res.IsError && e.Error == "" && (!e.Failure || res.Outcome.Status < 400):
		return fmt.Errorf("%s: %s", res.Code, cmp.Or(res.Message, "the call failed"))
	case e.Error != "" && !res.IsError:
		return fmt.Errorf("it succeeds, expected %s", e.Error)
	case e.Error != "" && res.Code != e.Error:
		return fmt.Errorf("it fails with %s (%s), expected %s", res.Code, res.Message, e.Error)
	case e.Verdict != "" && res.Outcome.Verdict != e.Verdict:
		return fmt.Errorf("the verdict is %s, expected %s", res.Outcome.Verdict, e.Verdict)
	case e.Verdict == "" && res.Outcome.Verdict == tenon.Violated && e.Error == "":
		return errors.New("the response violates its schema")
	case e.Status != 0 && res.Outcome.Status != e.Status:
		return fmt.Errorf("the status is %d, expected %d", res.Outcome.Status, e.Status)
	}
	return e.data(res)
}

func (e *Expect) data(res *tenon.Result) error {
	if len(e.Values) == 0 && e.Schema == nil {
		return nil
	}
	value := res.Value
	if res.IsError {
		value = res.Details
	}
	doc, err := rawjson.Parse(value)
	if err != nil {
		return errors.New("the result has no data that could be compared")
	}
	for i := range e.Values {
		if err := e.Values[i].check(doc); err != nil {
			return err
		}
	}
	if e.Schema != nil {
		if found := e.Schema.Validate(value); len(found) > 0 {
			return fmt.Errorf("the data is not valid against the schema of the case: %s: expected %s, got %s", cmp.Or(found[0].Path, "the whole"), found[0].Expected, found[0].Got)
		}
	}
	return nil
}

// maxPlaces limits the violations of one case.
const maxPlaces = 20

// violations are the places at which a response violates its schema.
func violations(res *tenon.Result) (places []string) {
	doc, err := rawjson.Parse(res.Meta)
	if err != nil {
		return nil
	}
	list := doc.Get(doc.Get(doc.Root(), "tenon/contract"), "violations")
	for n := doc.First(list); n != rawjson.None && len(places) < maxPlaces; n = doc.Next(n) {
		places = append(places, fmt.Sprintf("%s: expected %s, got %s", cmp.Or(doc.Str(doc.Get(n, "path")), "the whole"), doc.Str(doc.Get(n, "expected")), doc.Str(doc.Get(n, "got"))))
	}
	return places
}
