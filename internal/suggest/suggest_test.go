package suggest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/suggest"
)

func TestNear(t *testing.T) {
	tools := []string{"listPets", "getPetById", "addPet", "getPets", "GETPETS", strings.Repeat("x", 90), "kind"}
	for name, c := range map[string]struct {
		wish string
		want []string
	}{
		"a letter is missing":                   {"listPet", []string{"listPets"}},
		"two letters changed locations":         {"lsitPets", []string{"listPets"}},
		"the same in a short name":              {"knid", []string{"kind"}},
		"the case is another, the first stays":  {"getpets", []string{"getPets", "GETPETS"}},
		"the most alike first, then parts":      {"getPet", []string{"getPets", "GETPETS", "getPetById"}},
		"a part of a long name":                 {"byid", []string{"getPetById"}},
		"nothing is alike":                      {"weather", nil},
		"nothing was written":                   {"", nil},
		"letters behind the bound do not count": {strings.Repeat("x", 64) + "yyyy", []string{strings.Repeat("x", 90)}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, suggest.Near(c.wish, tools, 3)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
