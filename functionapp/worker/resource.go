package worker

import (
	"errors"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
)

// Resource is a resource of an app, or a template for many. Its methods are as
// those of [Tool].
type Resource struct {
	function
	described functionapp.Resource
	meta      functionapp.Object
	read      tenon.ResourceHandler
}

// Resource adds a resource; with variables in its address, {id}, a template.
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

// Read says what stands there. The reader returns one block, of text or data.
func (r *Resource) Read(read tenon.ResourceHandler) *Resource {
	r.read, r.runs = read, read != nil
	return r
}

// WithTitle names the resource for people.
func (r *Resource) WithTitle(title string) *Resource {
	r.described.Title = title
	return r
}

// WithDescription tells what the resource is.
func (r *Resource) WithDescription(text string) *Resource {
	r.described.Description = text
	return r
}

// WithMedia names the media type of what stands there.
func (r *Resource) WithMedia(media string) *Resource {
	r.described.Media = media
	return r
}

// WithMetadata adds a member to the _meta of the resource.
func (r *Resource) WithMetadata(key string, value any) *Resource {
	r.complain(setMeta(&r.meta, key, value))
	return r
}

// WithFunctionName names the function, and so its folder.
func (r *Resource) WithFunctionName(name string) *Resource {
	r.rename(name)
	return r
}

// Prompt is a prompt of an app. Its methods are as those of [Tool].
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

// Get says how the conversation begins.
func (p *Prompt) Get(get Getter) *Prompt {
	p.get, p.runs = get, get != nil
	return p
}

// WithTitle names the prompt for people.
func (p *Prompt) WithTitle(title string) *Prompt {
	p.described.Title = title
	return p
}

// WithDescription tells what the prompt is for.
func (p *Prompt) WithDescription(text string) *Prompt {
	p.described.Description = text
	return p
}

// WithArgument adds something that the prompt wants to know.
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

// WithFunctionName names the function, and so its folder.
func (p *Prompt) WithFunctionName(name string) *Prompt {
	p.rename(name)
	return p
}
