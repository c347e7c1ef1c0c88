package encode

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
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// MaxUpload bounds a body with files.
const MaxUpload = 64 << 20

// Files decodes an argument that stands for bytes: a data: URI, the path of a
// file below one folder as file:PATH, or base64. A colon distinguishes them, as
// base64 has none.
type Files struct {
	Root string // folder of file: arguments; empty: they are rejected
}

// Hint tells the model how to pass bytes.
func (f *Files) Hint(lead string) string {
	text := lead + "as base64 or data: URI"
	if f.Root != "" {
		text += " or file:PATH"
	}
	return text
}

// Upload is the content of a file argument.
type Upload struct {
	Name      string
	MediaType string
	Content   []byte
}

func (f *Files) Read(arg string, v Argument) (Upload, error) {
	text := string(v.Scalar())
	scheme, rest, found := strings.Cut(text, ":")
	if !found {
		content, err := decodeBase64(arg, v)
		return Upload{Name: arg, MediaType: "application/octet-stream", Content: content}, err
	}
	switch strings.ToLower(scheme) {
	case "data":
		return readData(arg, rest)
	case "file":
		return f.open(arg, rest)
	}
	return Upload{}, Invalid("argument %s is neither base64 nor a data: URI nor file:PATH", arg)
}

// readData reads what follows "data:" (RFC 2397).
func readData(arg, text string) (Upload, error) {
	head, data, found := strings.Cut(text, ",")
	if !found {
		return Upload{}, Invalid("argument %s is a data: URI without a comma", arg)
	}
	u := Upload{Name: arg, MediaType: "text/plain;charset=US-ASCII"}
	media, isBase64 := strings.CutSuffix(head, ";base64")
	if media != "" {
		kind, params, err := mime.ParseMediaType(media)
		if err != nil || !IsMediaType(kind) {
			return Upload{}, Invalid("argument %s is a data: URI whose media type cannot be read", arg)
		}
		if name := params["name"]; name != "" {
			u.Name = path.Base(filepath.ToSlash(name))
			delete(params, "name")
		}
		u.MediaType = mime.FormatMediaType(kind, params)
	}
	plain, err := url.PathUnescape(data)
	if err != nil {
		return Upload{}, Invalid("argument %s is a data: URI with a broken escape", arg)
	}
	u.Content = []byte(plain)
	if isBase64 {
		u.Content, err = decode64(arg, u.Content)
	}
	return u, err
}

// open reads a file below the root, which symbolic links cannot leave.
func (f *Files) open(arg, name string) (Upload, error) {
	if f == nil || f.Root == "" {
		return Upload{}, Rejected("argument %s names a file, and file arguments are not enabled; the operator sets a folder with --upload-root", arg)
	}
	name = filepath.FromSlash(strings.TrimPrefix(name, "//"))
	if !filepath.IsLocal(name) {
		return Upload{}, Invalid("argument %s names a file outside the allowed folder; use a path relative to it", arg)
	}
	file, err := os.OpenInRoot(f.Root, name)
	if err != nil {
		return Upload{}, &tenon.Error{Code: tenon.CodeValidation, Message: "cannot read the file of argument " + arg, Err: document.WithoutPath(err)}
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		return Upload{}, Invalid("argument %s does not name a regular file", arg)
	case info.Size() > MaxUpload:
		return Upload{}, Invalid("the file of argument %s is larger than %d MiB", arg, MaxUpload>>20)
	}
	content, err := document.ReadAll(file)
	if err != nil {
		return Upload{}, &tenon.Error{Code: tenon.CodeValidation, Message: "cannot read the file of argument " + arg, Err: err}
	}
	media := mime.TypeByExtension(filepath.Ext(name))
	if media == "" {
		media = "application/octet-stream"
	}
	return Upload{Name: filepath.Base(name), MediaType: media, Content: content}, nil
}

func decodeBase64(arg string, v Argument) ([]byte, error) {
	if v.Kind() != rawjson.String {
		return nil, Invalid("argument %s must be a base64 string", arg)
	}
	return decode64(arg, v.Scalar())
}

// decode64 accepts both alphabets, with and without padding.
func decode64(arg string, text []byte) ([]byte, error) {
	plain := strings.TrimRight(string(text), "=")
	enc := base64.RawStdEncoding
	if strings.ContainsAny(plain, "-_") {
		enc = base64.RawURLEncoding
	}
	out, err := enc.DecodeString(plain)
	if err != nil {
		return nil, Invalid("argument %s is not base64", arg)
	}
	return out, nil
}
