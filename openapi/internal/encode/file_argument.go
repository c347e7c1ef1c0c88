package openapi

import (
	"encoding/base64"
	"mime"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxUpload bounds a body with files.
const maxUpload = 64 << 20

// files turns an argument that stands for bytes into them: a data: URI, the
// path of a file below one folder as file:PATH, else base64. A colon tells them
// apart, as base64 has none.
type files struct {
	root string // folder of file: arguments; empty: none is read
}

// hint tells the model how bytes are given.
func (f *files) hint(lead string) string {
	text := lead + "as base64 or data: URI"
	if f.root != "" {
		text += " or file:PATH"
	}
	return text
}

// upload is what a part holds.
type upload struct {
	name    string
	media   string
	content []byte
}

func (f *files) read(arg string, v argument) (upload, error) {
	text := string(v.scalar())
	scheme, rest, found := strings.Cut(text, ":")
	if !found {
		content, err := decodeBase64(arg, v)
		return upload{name: arg, media: "application/octet-stream", content: content}, err
	}
	switch strings.ToLower(scheme) {
	case "data":
		return readData(arg, rest)
	case "file":
		return f.open(arg, rest)
	}
	return upload{}, invalid("argument %s is neither base64 nor a data: URI nor file:PATH", arg)
}

// readData reads what follows "data:" (RFC 2397).
func readData(arg, text string) (upload, error) {
	head, data, found := strings.Cut(text, ",")
	if !found {
		return upload{}, invalid("argument %s is a data: URI without a comma", arg)
	}
	u := upload{name: arg, media: "text/plain;charset=US-ASCII"}
	media, isBase64 := strings.CutSuffix(head, ";base64")
	if media != "" {
		kind, params, err := mime.ParseMediaType(media)
		if err != nil || !validMedia(kind) {
			return upload{}, invalid("argument %s is a data: URI whose media type cannot be read", arg)
		}
		if name := params["name"]; name != "" {
			u.name = path.Base(filepath.ToSlash(name))
			delete(params, "name")
		}
		u.media = mime.FormatMediaType(kind, params)
	}
	plain, err := url.PathUnescape(data)
	if err != nil {
		return upload{}, invalid("argument %s is a data: URI with a broken escape", arg)
	}
	u.content = []byte(plain)
	if isBase64 {
		u.content, err = decode64(arg, u.content)
	}
	return u, err
}

// open reads a file below the root. Nothing leads out of it, links neither.
func (f *files) open(arg, name string) (upload, error) {
	if f == nil || f.root == "" {
		return upload{}, refused("argument %s names a file, and no folder is allowed for that; the operator allows one with --file-root", arg)
	}
	name = filepath.FromSlash(strings.TrimPrefix(name, "//"))
	if !filepath.IsLocal(name) {
		return upload{}, invalid("argument %s names a file outside the folder that is allowed; name it relative to that", arg)
	}
	file, err := os.OpenInRoot(f.root, name)
	if err != nil {
		return upload{}, &tenon.Error{Code: tenon.CodeValidation, Message: "the file that argument " + arg + " names cannot be read", Err: plain(err)}
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		return upload{}, invalid("argument %s names no regular file", arg)
	case info.Size() > maxUpload:
		return upload{}, invalid("the file that argument %s names is larger than %d MiB", arg, maxUpload>>20)
	}
	content, err := readAll(file)
	if err != nil {
		return upload{}, &tenon.Error{Code: tenon.CodeValidation, Message: "the file that argument " + arg + " names cannot be read", Err: err}
	}
	media := mime.TypeByExtension(filepath.Ext(name))
	if media == "" {
		media = "application/octet-stream"
	}
	return upload{name: filepath.Base(name), media: media, content: content}, nil
}

func decodeBase64(arg string, v argument) ([]byte, error) {
	if v.kind() != rawjson.String {
		return nil, invalid("argument %s must be a base64 string", arg)
	}
	return decode64(arg, v.scalar())
}

// decode64 takes both alphabets, with and without padding.
func decode64(arg string, text []byte) ([]byte, error) {
	plain := strings.TrimRight(string(text), "=")
	enc := base64.RawStdEncoding
	if strings.ContainsAny(plain, "-_") {
		enc = base64.RawURLEncoding
	}
	out, err := enc.DecodeString(plain)
	if err != nil {
		return nil, invalid("argument %s is not base64", arg)
	}
	return out, nil
}
