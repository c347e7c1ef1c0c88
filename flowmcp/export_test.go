package flowmcp

// MainJSON evaluates the export main of a schema file for the tests.
func MainJSON(text []byte) ([]byte, []Finding) {
	f := readSchema("Test.mjs", text, rules{shelf: newShelf("")})
	if !f.main.valid() {
		return nil, f.findings
	}
	return f.main.appendJSON(nil), f.findings
}
