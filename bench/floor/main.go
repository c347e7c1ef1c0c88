// Command floor is the least that any program must do with a document: read
// the file and look at every byte as JSON. The start of tenon is measured as a
// ratio to it, in the same run.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	doc, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(json.Valid(doc))
}
