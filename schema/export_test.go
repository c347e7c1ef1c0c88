package schema

// PortablePattern is visible to tests, because its rules have no other face.
func PortablePattern(p string) (fixed string, ok bool) { return portablePattern(p) }
