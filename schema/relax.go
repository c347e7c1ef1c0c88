package schema

// Relaxation says what [Relax] took out of a schema.
type Relaxation uint8

// The relaxations, each with all before it.
const (
	None         Relaxation = iota // nothing
	Descriptions                   // descriptions and titles
	Structure                      // parts of what the schema demands
)

// String names r in one word.
func (r Relaxation) String() string {
	switch r {
	case None:
		return "none"
	case Descriptions:
		return "descriptions"
	}
	return "structure"
}

// Relax brings a schema document under limit bytes by taking out of it, so
// that whatever fits doc fits the result.
func Relax(doc []byte, limit int) (relaxed []byte, how Relaxation) {
	if len(doc) <= limit {
		return doc, None
	}
	return []byte(`{}`), Structure
}
