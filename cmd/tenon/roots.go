package main

// The roots of the web's certificate authorities, used where the system has none:
// an image of the binary alone has no file to read them from.
import _ "golang.org/x/crypto/x509roots/fallback"
