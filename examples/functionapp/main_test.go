package main

import "testing"

// TestTheFolderIsFresh is what an app's CI does with emit --check.
func TestTheFolderIsFresh(t *testing.T) {
	changes, err := app().Check("app")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		t.Error(c)
	}
}
