package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/tenon-mcp/tenon/internal/suggest"
)

// namedFiles refuses flags that name what is only read and is not there.
func namedFiles(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			name := value
			switch f.Name {
			case "overlay":
				if strings.Contains(value, "://") {
					continue
				}
			case "include", "exclude":
				var file bool
				if name, file = strings.CutPrefix(value, "@"); !file {
					continue
				}
			case "selection", "upload-root", "ref-root", "upstream-ca", "lists-dir":
			default:
				continue
			}
			if text := suggest.MissingFile(name); text != "" && err == nil {
				err = usagef("--%s %s cannot be read: %s", f.Name, value, text)
			}
		}
	})
	return err
}
