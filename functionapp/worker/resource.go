package worker

import (
	"errors"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
)

// Resource is a resource of an app, or a template. Its methods work like those
// of [Tool].
type Resource struct {
	function
	described functionapp.Resource
	meta      functionapp.Object
	read      tenon.ResourceHandler
}

// Resource adds a resource, or a template if its address contains variables,
// {id}.
func (a *App) Resource(uri, name string) *Resource {
	r := &Resource{described: functionapp.Resource{Binding: binding, URI: uri, Name: name}}
	r.function = function{app: a, site: here(), what: "resource " + uri, id: "resource " + functionapp.URIKey(uri), made: "resource_" + name}
	r.complain(functionapp.CheckURI(uri))
	if name == "" {
		r.complain(errors.New("it has no name"))
	}
	a.resources = append(a.resources, r)
	return r
}

// Read sets the handler, which returns one block of text or data.
func (r *Resource) Read(read tenon.ResourceHandler) *Resource {
	r.read, r.runs = read, read != nil
	return r
}

// WithTitle sets the display name.
func (r *Resource) WithTitle(title string) *Resource {
	r.described.Title = title
	return r
}

// WithDescription describes the resource.
func (r *Resource) WithDescription(text string) *Resource {
	r.described.Description = text
	return r
}

// WithMedia sets the media type of the contents.
func (r *Resource) WithMedia(media string) *Resource {
	r.described.Media = media
	return r
}

// WithMetadata adds a member to the resource's _meta.
func (r *Resource) WithMetadata(key string, value any) *Resource {
	r.complain(setMeta(&r.meta, key, value))
	return r
}

// WithFunctionName sets the name of the function and its folder.
func (r *Resource) WithFunctionName(name string) *Resource {
	r.rename(name)
	return r
}

// Prompt is a prompt of an app. Its methods work like those of [Tool].
type Prompt struct {
	function
	described functionapp.Prompt
	meta      functionapp.Object
	get       Getter
}

// Prompt adds a prompt.
func (a *App) Prompt(name string) *Prompt {
	p := &Prompt{described: functionapp.Prompt{Binding: binding, Name: name, Envelope: true}}
	p.function = function{app: a, site: here(), what: "prompt " + name, id: "prompt " + name, made: "prompt_" + name}
	if name == "" {
		p.complain(errors.New("it has no name"))
	}
	a.prompts = append(a.prompts, p)
	return p
}

// Get sets the handler.
func (p *Prompt) Get(get Getter) *Prompt {
	p.get, p.runs = get, get != nil
	return p
}

// WithTitle sets the display name.
func (p *Prompt) WithTitle(title string) *Prompt {
	p.described.Title = title
	return p
}

// WithDescription describes the prompt.
func (p *Prompt) WithDescription(text string) *Prompt {
	p.described.Description = text
	return p
}

// WithArgument adds an argument.
func (p *Prompt) WithArgument(a tenon.PromptArgument) *Prompt {
	if a.Name == "" {
		p.complain(errors.New("an argument has no name"))
		return p
	}
	p.described.Arguments = append(p.described.Arguments, a)
	return p
}

// WithMetadata adds a member to the _meta of the prompt.
func (p *Prompt) WithMetadata(key string, value any) *Prompt {
	p.complain(setMeta(&p.meta, key, value))
	return p
}

// WithFunctionName sets the name of the function and its folder.
func (p *Prompt) WithFunctionName(name string) *Prompt {
	p.rename(name)
	return p
}
