package review

import (
	"strings"

	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// The objects of the specifications, one per line: the name, then its members
// as name:kind, or name!kind if required. A kind is s, b, n (number) or *
// (anything), the name of an object, [kind] for a list of it, {kind} for a map.
// @31 and @32 mark members that were added in that version, @<31 and @<32 those
// that were removed in it. An object that is itself a map has the member {}.
const grammar3 = `
Document openapi!s info!Info servers:[Server] paths!{PathItem}@<31 paths:{PathItem}@31 components:Components security:[Requirement] tags:[Tag] externalDocs:Docs $self:s@32 jsonSchemaDialect:s@31 webhooks:{PathItem}@31
Info title!s version!s description:s termsOfService:s contact:Contact license:License summary:s@31
Contact name:s url:s email:s
License name!s url:s identifier:s@31
Server url!s description:s variables:{Variable} name:s@32
Variable default!s enum:[s] description:s
Components schemas:{Schema} responses:{Response} parameters:{Parameter} examples:{Example} requestBodies:{RequestBody} headers:{Header} securitySchemes:{SecurityScheme} links:{Link} callbacks:{Callback} pathItems:{PathItem}@31 mediaTypes:{Media}@32
PathItem summary:s description:s get:Operation put:Operation post:Operation delete:Operation options:Operation head:Operation patch:Operation trace:Operation query:Operation@32 additionalOperations:{Operation}@32 servers:[Server] parameters:[Parameter]
Operation responses!{Response}@<31 responses:{Response}@31 tags:[s] summary:s description:s externalDocs:Docs operationId:s parameters:[Parameter] requestBody:RequestBody callbacks:{Callback} deprecated:b security:[Requirement] servers:[Server]
Docs url!s description:s
Parameter name!s in!s description:s required:b deprecated:b allowEmptyValue:b style:s explode:b allowReserved:b schema:Schema example:* examples:{Example} content:{Media}
Header description:s required:b deprecated:b allowEmptyValue:b style:s explode:b allowReserved:b schema:Schema example:* examples:{Example} content:{Media}
RequestBody content!{Media} description:s required:b
Media schema:Schema example:* examples:{Example} encoding:{Encoding} itemSchema:Schema@32 prefixEncoding:[Encoding]@32 itemEncoding:Encoding@32
Encoding contentType:s headers:{Header} style:s explode:b allowReserved:b encoding:{Encoding}@32 prefixEncoding:[Encoding]@32 itemEncoding:Encoding@32
Response description!s@<32 description:s@32 summary:s@32 headers:{Header} content:{Media} links:{Link}
Callback {}:PathItem
Example summary:s description:s value:* externalValue:s dataValue:*@32 serializedValue:s@32
Link operationRef:s operationId:s parameters:{*} requestBody:* description:s server:Server
Tag name!s description:s externalDocs:Docs summary:s@32 parent:s@32 kind:s@32
Requirement {}:[s]
SecurityScheme type!s description:s name:s in:s scheme:s bearerFormat:s flows:Flows openIdConnectUrl:s deprecated:b@32 oauth2MetadataUrl:s@32
Flows implicit:Flow password:Flow clientCredentials:Flow authorizationCode:Flow deviceAuthorization:Flow@32
Flow scopes!{s} authorizationUrl:s tokenUrl:s refreshUrl:s deviceAuthorizationUrl:s@32
Discriminator propertyName!s@<32 propertyName:s@32 mapping:{s} defaultMapping:s@32
XML name:s namespace:s prefix:s attribute:b wrapped:b nodeType:s@32
Schema properties:{Schema} additionalProperties:Schema items:Schema allOf:[Schema] anyOf:[Schema] oneOf:[Schema] not:Schema title:s description:s format:s pattern:s required:[s] enum:[*] nullable:b readOnly:b writeOnly:b deprecated:b uniqueItems:b minimum:n maximum:n multipleOf:n minLength:n maxLength:n minItems:n maxItems:n minProperties:n maxProperties:n default:* example:* discriminator:Discriminator xml:XML externalDocs:Docs type:s@<31 exclusiveMinimum:b@<31 exclusiveMaximum:b@<31 exclusiveMinimum:n@31 exclusiveMaximum:n@31 patternProperties:{Schema}@31 prefixItems:[Schema]@31 contains:Schema@31 propertyNames:Schema@31 if:Schema@31 then:Schema@31 else:Schema@31 dependentSchemas:{Schema}@31 unevaluatedItems:Schema@31 unevaluatedProperties:Schema@31 contentSchema:Schema@31 $defs:{Schema}@31
`

const grammar2 = `
Document swagger!s info!Info paths!{PathItem} host:s basePath:s schemes:[s] consumes:[s] produces:[s] definitions:{Schema} parameters:{Parameter} responses:{Response} securityDefinitions:{SecurityScheme} security:[Requirement] tags:[Tag] externalDocs:Docs
Info title!s version!s description:s termsOfService:s contact:Contact license:License
Contact name:s url:s email:s
License name!s url:s
PathItem get:Operation put:Operation post:Operation delete:Operation options:Operation head:Operation patch:Operation parameters:[Parameter]
Operation responses!{Response} tags:[s] summary:s description:s externalDocs:Docs operationId:s consumes:[s] produces:[s] parameters:[Parameter] schemes:[s] deprecated:b security:[Requirement]
Docs url!s description:s
Parameter name!s in!s description:s required:b schema:Schema type:s format:s allowEmptyValue:b items:Items collectionFormat:s default:* enum:[*] pattern:s minimum:n maximum:n exclusiveMinimum:b exclusiveMaximum:b minLength:n maxLength:n minItems:n maxItems:n uniqueItems:b multipleOf:n
Items type!s format:s items:Items collectionFormat:s default:* enum:[*] pattern:s minimum:n maximum:n exclusiveMinimum:b exclusiveMaximum:b minLength:n maxLength:n minItems:n maxItems:n uniqueItems:b multipleOf:n
Header type!s description:s format:s items:Items collectionFormat:s default:* enum:[*] pattern:s minimum:n maximum:n exclusiveMinimum:b exclusiveMaximum:b minLength:n maxLength:n minItems:n maxItems:n uniqueItems:b multipleOf:n
Response description!s schema:Schema headers:{Header} examples:{*}
Tag name!s description:s externalDocs:Docs
Requirement {}:[s]
SecurityScheme type!s description:s name:s in:s flow:s authorizationUrl:s tokenUrl:s scopes:{s}
XML name:s namespace:s prefix:s attribute:b wrapped:b
Schema properties:{Schema} additionalProperties:Schema items:Schema allOf:[Schema] title:s description:s type:s format:s pattern:s required:[s] enum:[*] readOnly:b uniqueItems:b minimum:n maximum:n exclusiveMinimum:b exclusiveMaximum:b multipleOf:n minLength:n maxLength:n minItems:n maxItems:n minProperties:n maxProperties:n default:* example:* discriminator:s xml:XML externalDocs:Docs
`

// production is one object of a grammar.
type production struct {
	members  map[string]string // kind by name
	required []string
	others   string // kind of all members; empty: the object is not a map
}

// productions reads the grammar of a version.
func productions(v document.Version) map[string]*production {
	text := grammar3
	if v == document.V20 {
		text = grammar2
	}
	all := map[string]*production{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		p := &production{members: map[string]string{}}
		for _, f := range fields[1:] {
			p.add(f, v)
		}
		all[fields[0]] = p
	}
	return all
}

func (p *production) add(field string, v document.Version) {
	field, when, _ := strings.Cut(field, "@")
	switch {
	case when == "31" && v < document.V31, when == "32" && v < document.V32, when == "<31" && v >= document.V31, when == "<32" && v >= document.V32:
		return
	}
	i := strings.IndexAny(field, "!:")
	name, kind := field[:i], field[i+1:]
	if name == "{}" {
		p.others = kind
		return
	}
	p.members[name] = kind
	if field[i] == '!' {
		p.required = append(p.required, name)
	}
}
