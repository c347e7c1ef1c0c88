package tenon

import "github.com/tenon-mcp/tenon/schema"

// checks is a contract ready to be checked against.
type checks struct {
	input   *schema.Schema
	answers []checkedVariant
	base64  bool // binary data stands in the answer itself
	faults  []Fault
}

type checkedVariant struct {
	status string
	media  string
	body   *schema.Schema
}

// compileChecks compiles a tool's contract. What does not compile is not
// checked, and reported: a call must not fail over a description's mistake.
func compileChecks(t *Tool) checks {
	c := checks{base64: t.Shape == FlowMCP}
	contract, err := t.promised().Contract()
	if err != nil {
		c.faults = append(c.faults, t.fault("its contract cannot be read, calls are not checked: "+err.Error()))
		return c
	}
	if c.input, err = compileSchema(contract.Input, contract.Formats); err != nil {
		c.faults = append(c.faults, t.fault("the input schema does not compile, arguments are not checked: "+err.Error()))
	}
	for _, v := range contract.Answers {
		checked := checkedVariant{status: v.Status, media: v.Media}
		if checked.body, err = compileSchema(v.Schema, contract.Formats); err != nil {
			c.faults = append(c.faults, t.fault("the schema of answer "+v.Status+" does not compile, it is not checked: "+err.Error()))
		}
		c.answers = append(c.answers, checked)
	}
	return c
}

// wallOne validates the arguments as they came.
func (c *checks) wallOne(args []byte) []schema.Violation {
	if c.input == nil {
		return nil
	}
	return c.input.Validate(args)
}
