package host

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// resource returns the resource of a function.
func (s *generation) resource(f *Function) tenon.Resource {
	r := f.Resource
	return tenon.Resource{
		URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MediaType: r.Media, Size: r.Size, Read: s.reader(f.Name),
	}
}

// template returns the resource template of a function.
func (s *generation) template(f *Function) tenon.ResourceTemplate {
	r := f.Resource
	return tenon.ResourceTemplate{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MediaType: r.Media, Read: s.reader(f.Name)}
}

// reader returns the handler that reads an address.
func (s *generation) reader(function string) tenon.ResourceHandler {
	return func(ctx context.Context, uri string, c *tenon.Call) ([]tenon.Content, error) {
		var media string
		r, _, err := s.run(ctx, function, func(f *Function) (invocation, error) {
			if f.Resource == nil {
				return invocation{}, &tenon.Error{Code: tenon.CodeNotFound, Message: "there is no resource " + uri + " any more"}
			}
			media = f.Resource.Media
			return resourceCall(f, uri, c)
		})
		if err != nil {
			return nil, err
		}
		blocks, err := functionapp.ReadContents(r.ReturnValue, uri, media)
		if err != nil {
			return nil, &tenon.Error{Code: tenon.CodeServer, Message: fmt.Sprintf("what the function %s returned cannot be used: %v", function, err)}
		}
		return blocks, nil
	}
}

func resourceCall(f *Function, uri string, c *tenon.Call) (invocation, error) {
	inv := invocation{f: f, context: functionapp.Context{URI: uri, Session: sessionOf(c), Client: clientOf(c), Transport: functionapp.Transport{Name: transport}}}
	if f.template == nil {
		return inv, nil
	}
	params, fits := f.template.Match(uri)
	if !fits {
		return inv, &tenon.Error{Code: tenon.CodeNotFound, Message: "there is no resource " + uri}
	}
	inv.params = params
	return inv, nil
}

// prompt returns the prompt of a function.
func (s *generation) prompt(f *Function) tenon.Prompt {
	p := f.Prompt
	function := f.Name
	return tenon.Prompt{
		Name: p.Name, Title: p.Title, Description: p.Description, Arguments: p.Arguments,
		Get: func(ctx context.Context, args map[string]string, c *tenon.Call) ([]tenon.PromptMessage, error) {
			r, _, err := s.run(ctx, function, func(f *Function) (invocation, error) { return promptCall(f, args, c) })
			if err != nil {
				return nil, err
			}
			messages, err := functionapp.ReadMessages(r.ReturnValue, p.Envelope)
			if err != nil {
				return nil, &tenon.Error{Code: tenon.CodeServer, Message: fmt.Sprintf("what the function %s returned cannot be used: %v", function, err)}
			}
			return messages, nil
		},
	}
}

func promptCall(f *Function, args map[string]string, c *tenon.Call) (invocation, error) {
	if f.Prompt == nil {
		return invocation{}, &tenon.Error{Code: tenon.CodeNotFound, Message: "the function " + f.Name + " is no prompt any more"}
	}
	var missing []string
	for _, a := range f.Prompt.Arguments {
		if _, given := args[a.Name]; a.Required && !given {
			missing = append(missing, a.Name)
		}
	}
	if missing != nil {
		return invocation{}, &tenon.Error{Code: tenon.CodeValidation, Message: "these arguments are required: " + strings.Join(missing, ", ")}
	}
	var o functionapp.Object
	for _, name := range slices.Sorted(maps.Keys(args)) {
		o = append(o, functionapp.Member{Key: name, Value: rawjson.AppendString(nil, args[name])})
	}
	return invocation{f: f, context: functionapp.Context{
		Name: f.Prompt.Name, Arguments: o.Append(nil), Session: sessionOf(c), Client: clientOf(c), Transport: functionapp.Transport{Name: transport},
	}}, nil
}
