package argnames

import "github.com/tenon-mcp/tenon/schema"

// Validate restores the names of arguments and validates them against input,
// nil: without validation. Strings that contain JSON where no string is allowed
// are parsed before violations are reported. It returns the restored and
// coerced arguments; violations have the published names.
func (n *Names) Validate(input *schema.Schema, args []byte) (checked []byte, read []schema.Fix, violations []schema.Violation) {
	restored, invalid := n.Restore(args)
	if invalid == "" && input != nil {
		violations = input.Validate(restored)
		if len(violations) > 0 {
			restored, read = input.Coerce(restored)
		}
		if len(read) > 0 {
			restored, invalid = n.Restore(restored) // also in parsed strings
			violations = input.Validate(restored)
		}
	}
	if invalid != "" {
		return args, nil, []schema.Violation{{Keyword: "not", Expected: "one name for each argument", Got: invalid}}
	}
	for i := range read {
		read[i].Path = n.Pointer(read[i].Path)
	}
	return restored, read, n.publishViolations(violations)
}
