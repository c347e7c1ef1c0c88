package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestSecretsAreNotOnTheCommandLine(t *testing.T) {
	for _, tt := range []struct {
		flag, value string
		refused     bool
	}{
		{"header", "Authorization: Bearer sesame", true},
		{"header", "X-Custom: Bearer sesame", true},
		{"header", "X-Api-Key: sesame", true},
		{"header", "X-Key: sesame", true},
		{"header", "Cookie: sid=sesame", true},
		{"header", "Authorization: Bearer ${TOKEN}", false},
		{"header", "X-Monkey: sesame", false},
		{"header", "Accept-Language: de", false},
		{"azure-key", "sesame", true},
		{"azure-key", "${KEY}", false},
		{"worker-env", "DB_PASSWORD=sesame", true},
		{"worker-env", "DB_PASSWORD", false},
		{"base-url", "https://me:sesame@api.example", true},
		{"base-url", "https://api.example", false},
		{"param-const", "auth_token=Bearer sesame", true},
		{"param-const", "key=name", false},
	} {
		t.Run(tt.flag+" "+tt.value, func(t *testing.T) {
			cmd := &cobra.Command{}
			var one string
			var many []string
			if tt.flag == "azure-key" || tt.flag == "base-url" {
				cmd.Flags().StringVar(&one, tt.flag, "", "")
			} else {
				cmd.Flags().StringArrayVar(&many, tt.flag, nil, "")
			}
			if err := cmd.Flags().Set(tt.flag, tt.value); err != nil {
				t.Fatal(err)
			}
			err := noSecrets(cmd.Flags())
			if (err != nil) != tt.refused || err != nil && strings.Contains(err.Error(), "sesame") {
				t.Errorf("got %v", err)
			}
		})
	}
}
