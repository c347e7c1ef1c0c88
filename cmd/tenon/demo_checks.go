package main

import (
	"encoding/json"
	"fmt"
)

// The checks of the demo's calls: each returns what is not as it should be.

func expect(isError bool, verdict, member string) func(toolResult) error {
	return func(r toolResult) error {
		switch {
		case r.IsError != isError:
			return fmt.Errorf("isError is %v", r.IsError)
		case r.Meta.Contract.Verdict != verdict:
			return fmt.Errorf("the verdict is %q, not %q", r.Meta.Contract.Verdict, verdict)
		case r.member(member) == nil:
			return fmt.Errorf("structuredContent has no %s", member)
		}
		return nil
	}
}

func expectImage(r toolResult) error {
	if err := expect(false, "fits", "data")(r); err != nil {
		return err
	}
	for _, c := range r.Content {
		if c.Type == "image" && c.MimeType == "image/png" {
			return nil
		}
	}
	return fmt.Errorf("there is no image block")
}

func expectViolation(isError bool) func(toolResult) error {
	return func(r toolResult) error {
		member := "data"
		if isError {
			member = "error"
		}
		if err := expect(isError, "violated", member)(r); err != nil {
			return err
		}
		for _, v := range r.Meta.Contract.Violations {
			if v.Path == "/count" {
				return nil
			}
		}
		return fmt.Errorf("no violation names /count")
	}
}

func expectCode(code string) func(toolResult) error {
	return func(r toolResult) error {
		var e struct {
			Code string `json:"code"`
		}
		if err := json.Unmarshal(r.member("error"), &e); err != nil {
			return fmt.Errorf("there is no error structure: %w", err)
		}
		switch {
		case !r.IsError:
			return fmt.Errorf("isError is false")
		case e.Code != code:
			return fmt.Errorf("the code is %q, not %q", e.Code, code)
		case r.Meta.Contract.Retry != "safe":
			return fmt.Errorf("retry is %q", r.Meta.Contract.Retry)
		}
		return nil
	}
}

func expectExecuted(executed, retry string) func(toolResult) error {
	return func(r toolResult) error {
		if err := expect(false, "fits", "data")(r); err != nil {
			return err
		}
		if c := r.Meta.Contract; c.Executed != executed || c.Retry != retry {
			return fmt.Errorf("executed is %q and retry %q", c.Executed, c.Retry)
		}
		return nil
	}
}

// expectRequest wants a request for consent, and nothing done.
func expectRequest(action string) func(toolResult) error {
	return func(r toolResult) error {
		switch {
		case r.IsError:
			return fmt.Errorf("isError is true")
		case string(r.member("type")) != `"confirmation_request"`:
			return fmt.Errorf("the type is %s", r.member("type"))
		case string(r.member("action")) != `"`+action+`"`:
			return fmt.Errorf("the action is %s", r.member("action"))
		case r.Meta.Contract.Executed != "no":
			return fmt.Errorf("executed is %q", r.Meta.Contract.Executed)
		}
		return nil
	}
}
