package library_test

import (
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp/library"
)

func TestMigrateChangesNothingElse(t *testing.T) {
	for name, tt := range map[string][2]string{
		"both":          {`/* routes */ export const main = { version: '3.0.0', routes: { routes: {} } }`, `/* routes */ export const main = { version: '4.0.0', tools: { routes: {} } }`},
		"quoted":        {`export const main = { "routes": {}, "version": "3.2.1" }`, `export const main = { "tools": {}, "version": "4.0.0" }`},
		"nothing to do": {`export const main = { version: '4.1.0', tools: {} }`, `export const main = { version: '4.1.0', tools: {} }`},
	} {
		t.Run(name, func(t *testing.T) {
			got, done, err := library.Migrate([]byte(tt[0]))
			if err != nil || string(got) != tt[1] || (len(done) > 0) != (tt[0] != tt[1]) {
				t.Errorf("got %s, %v, %v", got, done, err)
			}
		})
	}
	for _, text := range []string{
		`export const main = { tools: {}, routes: {} }`, `export const main = f()`, `{`, `const routes = {}; export const main = { routes }`,
		`export const main = { version: '2.0.0', routes: {} }`, `const v = '3.0.0'; export const main = { version: v, routes: {} }`, `export const main = { version: '3.0.0', ['routes']: {} }`, `export const main = { version: 3, routes: {} }`,
	} {
		if _, _, err := library.Migrate([]byte(text)); err == nil {
			t.Errorf("%s was migrated", strings.TrimSpace(text))
		}
	}
}
