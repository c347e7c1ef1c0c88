package document

// Operations iterates over the operations of a path item by method.
func Operations(item Value) func(func(string, Value) bool) {
	return func(yield func(string, Value) bool) {
		for key, node := range item.Each() {
			if m := Method(key); m != "" && !yield(m, node) {
				return
			}
		}
		for m, node := range item.Get("additionalOperations").Each() {
			if !yield(m, node) {
				return
			}
		}
	}
}

// Method returns the HTTP method for a member of a path item, or "" if the
// member is not an operation. A switch on constants allocates no string.
func Method(key string) string {
	switch key {
	case "get":
		return "GET"
	case "put":
		return "PUT"
	case "post":
		return "POST"
	case "delete":
		return "DELETE"
	case "options":
		return "OPTIONS"
	case "head":
		return "HEAD"
	case "patch":
		return "PATCH"
	case "trace":
		return "TRACE"
	case "query":
		return "QUERY"
	}
	return ""
}
