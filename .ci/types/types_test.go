// Package types holds schemas that the product has of types of others against
// the libraries themselves, which it does not depend on.
package types

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	gofrs "github.com/gofrs/uuid/v5"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/gotype"
)

type holder struct {
	Price    decimal.Decimal            `json:"price"`
	Discount decimal.NullDecimal        `json:"discount"`
	Maybe    *decimal.Decimal           `json:"maybe,omitempty"`
	Prices   []decimal.Decimal          `json:"prices"`
	ByName   map[string]decimal.Decimal `json:"byName"`
	ID       gofrs.UUID                 `json:"id"`
	Parent   gofrs.NullUUID             `json:"parent"`
	Other    *gofrs.UUID                `json:"other,omitempty"`
	ByID     map[gofrs.UUID]int         `json:"byId"`
	Plain    uuid.UUID                  `json:"plain"`
	None     uuid.NullUUID              `json:"none"`
}

func values() []any {
	id := gofrs.Must(gofrs.FromString("7d444840-9dc0-11d1-b245-5ffdce74fad2"))
	price := decimal.RequireFromString("12345678901234567890.000000000000000000001")
	return []any{
		new(decimal.Decimal), &price, new(decimal.RequireFromString("-0.5")), new(decimal.New(1, 30)), new(decimal.New(-1, -30)),
		new(decimal.RequireFromString("1e9")), new(decimal.RequireFromString("1.50")),
		new(decimal.NullDecimal), new(decimal.NewNullDecimal(price)),
		new(gofrs.UUID), &id, new(gofrs.NullUUID), &gofrs.NullUUID{UUID: id, Valid: true},
		&struct{ gofrs.UUID }{id}, &struct{ decimal.Decimal }{price},
		&map[gofrs.UUID]decimal.Decimal{id: price},
		new(uuid.NullUUID), &uuid.NullUUID{UUID: uuid.UUID(id), Valid: true},
		&holder{},
		&holder{
			Price: price, Discount: decimal.NewNullDecimal(price), Maybe: &price, Prices: []decimal.Decimal{price}, ByName: map[string]decimal.Decimal{"a": price},
			ID: id, Parent: gofrs.NullUUID{UUID: id, Valid: true}, Other: &id, ByID: map[gofrs.UUID]int{id: 1},
		},
	}
}

// TestWhatIsWrittenFits: what is written is what encoding/json writes, it fits
// the schema that is published, and it is read as encoding/json reads it.
func TestWhatIsWrittenFits(t *testing.T) {
	for _, unquoted := range []bool{false, true} {
		decimal.MarshalJSONWithoutQuotes = unquoted
		defer func() { decimal.MarshalJSONWithoutQuotes = false }()
		for _, v := range values() {
			typ := reflect.TypeOf(v).Elem()
			theirs, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			codec, err := gotype.For(typ, gotype.ForOptions{})
			if err != nil {
				t.Errorf("%s: %v", typ, err)
				continue
			}
			ours, err := codec.Append(nil, v)
			if err != nil {
				t.Errorf("%s: %v", typ, err)
				continue
			}
			if _, holds := v.(*holder); !holds && !bytes.Equal(ours, theirs) {
				t.Errorf("%s: written %s, encoding/json writes %s", typ, ours, theirs)
			}
			s, err := schema.Compile(codec.Doc(), schema.Options{AssertFormat: true})
			if err != nil {
				t.Fatal(err)
			}
			back := reflect.New(typ)
			if _, holds := v.(*holder); holds {
				if err := codec.Decode(ours, back.Interface()); err != nil {
					t.Errorf("%s: %s is not read: %v", typ, ours, err)
				} else if again, err := codec.Append(nil, back.Interface()); err != nil || !bytes.Equal(again, ours) {
					t.Errorf("%s: %s is read as %s, %v", typ, ours, again, err)
				}
			}
			if wrong := s.Validate(ours); len(wrong) > 0 {
				t.Errorf("%s: %s does not fit %s: %v", typ, ours, codec.Doc(), wrong)
			}
		}
	}
}
