package argnames

import "github.com/tenon-mcp/tenon/schema"

// Validate restores arguments and validates them, by nil against nothing. JSON
// that came as a string where no string can stand is read before anything is
// said to be wrong. What was restored and read is returned; what is told of it
// has the published names.
func (n *Names) Validate(input *schema.Schema, args []byte) (checked []byte, read []schema.Fix, violations []schema.Violation) {
	restored, invalid := n.Restore(args)
	if invalid == "" && input != nil {
		violations = input.Validate(restored)
		if len(violations) > 0 {
			restored, read = input.Coerce(restored)
		}
		if len(read) > 0 {
			restored, invalid = n.Restore(restored) // also in what was a string
			violations = input.Validate(restored)
		}
	}
	if invalid != "" {
		return args, nil, []schema.Violation{{Keyword: "not", Expected: "one name for each argument", Got: invalid}}
	}
	for i := range read {
		read[i].Path = n.Pointer(read[i].Path)
	}
	return restored, read, n.told(violations)
}
