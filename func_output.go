package tenon

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
)

// Output is a T with all that a result can hold beside it: for functions that
// want more than their value. What it promises is the schema of T.
//
// A function that returns a [Block] or a []Block, by itself or in an Output,
// promises nothing: the blocks are all that the client gets.
type Output[T any] struct {
	Value  T              // stands in structuredContent; checked against the schema of T
	Blocks []Block        // what the model reads; nil: a text copy of the value
	Meta   map[string]any // for _meta, which the model does not see; names that begin with "tenon/" are taken
	Failed bool           // the blocks tell what went wrong: the result is an error, the value stays here
}

// Text is a block of text for the model.
func Text(text string) Block { return Block{Text: []byte(text)} }

// Image is a picture: data are its bytes, not base64, media is its type, such
// as image/png.
func Image(media string, data []byte) Block { return Block{Kind: ImageBlock, Media: media, Data: data} }

// Audio is a sound: data are its bytes, not base64, media is its type, such as
// audio/wav.
func Audio(media string, data []byte) Block { return Block{Kind: AudioBlock, Media: media, Data: data} }

// Link is the address of a resource that the client may read if it wants to.
// Name and media type may be empty.
func Link(uri, name, media string) Block {
	return Block{Kind: LinkBlock, URI: uri, Name: name, Media: media}
}

// Embedded is a resource that comes with the result, as text.
func Embedded(uri, media, text string) Block {
	return Block{Kind: ResourceBlock, URI: uri, Media: media, Text: []byte(text)}
}

// enriched is an Output of any type.
type enriched interface {
	valueType() reflect.Type
	parts() (value any, r Reply, meta map[string]any) // value is a pointer
}

func (*Output[T]) valueType() reflect.Type { return reflect.TypeFor[T]() }

func (o *Output[T]) parts() (value any, r Reply, meta map[string]any) {
	return &o.Value, Reply{Blocks: o.Blocks, Failed: o.Failed}, o.Meta
}

// resultType answers the type of which a result's schema is made; content: it
// is blocks, which have none.
func resultType(t reflect.Type) (value reflect.Type, content bool) {
	if o, ok := reflect.TypeAssert[enriched](reflect.New(t)); ok {
		t = o.valueType()
	}
	return t, t == reflect.TypeFor[Block]() || t == reflect.TypeFor[[]Block]()
}

// unpack takes an Output and blocks apart. Value is a pointer; nil: there is
// none to be written.
func unpack(out any) (value any, r Reply, err error) {
	if o, ok := out.(enriched); ok {
		var meta map[string]any
		out, r, meta = o.parts()
		if r.Meta, err = metaJSON(meta); err != nil {
			return nil, r, err
		}
	}
	switch v := out.(type) {
	case *Block:
		r.Blocks = append(r.Blocks, *v)
	case *[]Block:
		r.Blocks = append(append([]Block{}, r.Blocks...), *v...)
	default:
		if !r.Failed {
			return out, r, nil
		}
	}
	if r.Blocks == nil {
		r.Blocks = []Block{}
	}
	return nil, r, nil
}

func metaJSON(meta map[string]any) ([]byte, error) {
	if len(meta) == 0 {
		return nil, nil
	}
	for name := range meta {
		if strings.HasPrefix(name, "tenon/") {
			return nil, errors.New("_meta: the name " + name + " is taken")
		}
	}
	return json.Marshal(meta)
}
