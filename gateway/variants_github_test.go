package gateway_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// TestVariantsOfGitHub answers operations of a real document with values that
// fit each declared JSON answer, and with the same value spoilt.
func TestVariantsOfGitHub(t *testing.T) {
	offer, err := openapi.Parse("github", gitHub(t), openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var resp tenon.Response
	for i := range offer.Tools {
		offer.Tools[i].Handler = func(context.Context, *tenon.Call) (tenon.Response, error) { return resp, nil }
		offer.Tools[i].Policy = tenon.Enforce
		offer.Tools[i].Envelope = allEnvelopes[i%len(allEnvelopes)]
		offer.Tools[i].Confirmation.Mode = tenon.ConfirmOff
	}
	g := gateway.New(gateway.Build([]gateway.Mount{{Features: offer}}, gateway.BuildOptions{Describe: gateway.ToggleOff}), gateway.Options{})
	operations, fitting, spoilt := 0, 0, 0
	for _, e := range g.Catalog().Tools() {
		contract, err := e.Tool().Contract.Contract()
		if err != nil {
			t.Fatal(err)
		}
		input, err := schema.Compile(contract.Input, schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		args, ok := sample.Of(input)
		if !ok || operations == 500 {
			continue
		}
		operations++
		_, output := e.Schemas()
		compiled := map[string]*schema.Schema{}
		for _, v := range contract.Responses {
			status, err := strconv.Atoi(v.Status)
			if err != nil || v.Schema == nil || v.MediaType == "" {
				continue
			}
			s, err := schema.Compile(v.Schema, schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			value, ok := sample.Of(s)
			if !ok {
				continue
			}
			for _, body := range []string{string(value), `{"spoilt":` + string(value) + `}`, string(value[:len(value)-1])} {
				resp = tenon.Response{Status: status, MediaType: v.MediaType, Body: []byte(body)}
				fits := len(s.Validate(resp.Body)) == 0
				res, err := g.Call(t.Context(), &tenon.Call{Tool: e.Name(), Args: args})
				if err != nil {
					t.Fatal(err)
				}
				if fits {
					fitting++
				} else {
					spoilt++
				}
				told := verdictOf(t, res)
				if (told.Verdict == "fits") != fits || res.IsError != (!fits || status/100 != 2) || told.Status != status {
					t.Errorf("%s %d: %+v for %.200s", e.Name(), status, told, body)
				}
				if fits && !res.IsError && !strings.Contains(string(res.Structured), body[1:len(body)-1]) {
					t.Errorf("%s: %.200s is not in %.200s", e.Name(), body, res.Structured)
				}
				fitsPublished(t, compiled, output, res.Structured, e.Name())
			}
		}
	}
	t.Logf("%d operations, %d answers that fit, %d that do not", operations, fitting, spoilt)
	if operations < 500 || spoilt < 500 || fitting < 500 {
		t.Error("too few were tested")
	}
}
