package mcpb

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Manifest is the manifest.json of a bundle, of version 0.3:
// https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md, read
// 2026-11-23.
type Manifest struct {
	Version       string            `json:"manifest_version"`
	Name          string            `json:"name"`
	Title         string            `json:"display_name,omitempty"`
	Release       string            `json:"version"`
	Description   string            `json:"description"`
	Author        Author            `json:"author"`
	Server        Server            `json:"server"`
	Tools         []Tool            `json:"tools,omitempty"`
	Generated     bool              `json:"tools_generated,omitempty"` // there are others that depend on the time
	Compatibility Compatibility     `json:"compatibility"`
	UserConfig    map[string]Option `json:"user_config,omitempty"`
}

// Author is who made a bundle.
type Author struct {
	Name string `json:"name"`
}

// Server is what a host starts.
type Server struct {
	Type       string `json:"type"`
	EntryPoint string `json:"entry_point"`
	Config     Config `json:"mcp_config"`
}

// Config is a command line. In it ${__dirname} is the folder in which the host
// unpacked the bundle, ${user_config.KEY} an answer of the user.
type Config struct {
	Command   string              `json:"command"`
	Args      []string            `json:"args"`
	Env       map[string]string   `json:"env,omitempty"`
	Overrides map[string]Override `json:"platform_overrides,omitempty"`
}

// Override is what is otherwise on a platform.
type Override struct {
	Command string `json:"command"`
}

// Tool is a tool that the server lists.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// Compatibility is where the bundle can be used.
type Compatibility struct {
	Platforms []string `json:"platforms"`
}

// Option is a question for the user.
type Option struct {
	Type        string  `json:"type"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Required    bool    `json:"required"`
	Default     *string `json:"default,omitempty"`
	Sensitive   bool    `json:"sensitive"`
}

// Dir stands for the folder in which a host unpacks a bundle.
const Dir = "${__dirname}"

// Secret is a question for a secret, and the variable of the environment in which
// the server gets the answer.
type Secret struct {
	Key, Variable      string
	Title, Description string
	Required           bool
}

// SecretOf asks for the secret of a name.
func SecretOf(name, description string, required bool) Secret {
	key := strings.Trim(notKey.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if key == "" {
		key = "credential"
	}
	return Secret{Key: key, Variable: "TENON_" + strings.ToUpper(key), Title: name, Description: description, Required: required}
}

// notKey are characters that a key had better not have: hosts build regular
// expressions of it.
var notKey = regexp.MustCompile(`[^a-z0-9]+`)

// Ask adds questions to the manifest. One that need not be answered is empty by
// default; hosts hand over the text of the reference otherwise.
func (m *Manifest) Ask(secrets []Secret) error {
	for _, s := range secrets {
		if _, twice := m.UserConfig[s.Key]; twice {
			return fmt.Errorf("two credentials would be asked for as %q", s.Key)
		}
		if m.UserConfig == nil {
			m.UserConfig, m.Server.Config.Env = map[string]Option{}, map[string]string{}
		}
		o := Option{Type: "string", Title: s.Title, Description: s.Description, Required: s.Required, Sensitive: true}
		if !s.Required {
			o.Default = new(string)
		}
		m.UserConfig[s.Key] = o
		m.Server.Config.Env[s.Variable] = "${user_config." + s.Key + "}"
	}
	return nil
}

// Platform is an operating system with the binary for it.
type Platform struct {
	OS     string // as GOOS
	Binary string // in the bundle
}

// platformName is the name that hosts have for a system: process.platform of Node.
// Empty: they have none.
func platformName(system string) string {
	switch system {
	case "linux", "darwin":
		return system
	case "windows":
		return "win32"
	}
	return ""
}

// Start sets what hosts start. Of several platforms the first is the default.
func (m *Manifest) Start(platforms []Platform, args []string) error {
	if len(platforms) == 0 {
		return errors.New("a bundle needs a binary")
	}
	m.Server = Server{Type: "binary", EntryPoint: platforms[0].Binary, Config: Config{Command: Dir + "/" + platforms[0].Binary, Args: args}}
	for i, p := range platforms {
		name := platformName(p.OS)
		if name == "" {
			return fmt.Errorf("bundles are for linux, darwin and windows, not for %s", p.OS)
		}
		if slices.Contains(m.Compatibility.Platforms, name) {
			return fmt.Errorf("there are two binaries for %s; hosts tell systems from each other and not processors, so a bundle has one for each", p.OS)
		}
		m.Compatibility.Platforms = append(m.Compatibility.Platforms, name)
		if i > 0 {
			if m.Server.Config.Overrides == nil {
				m.Server.Config.Overrides = map[string]Override{}
			}
			m.Server.Config.Overrides[name] = Override{Command: Dir + "/" + p.Binary}
		}
	}
	return nil
}

var semantic = regexp.MustCompile(`^v?(\d+)(\.\d+)?(\.\d+)?(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// Release is a version of a description as a semantic one; "1.0.0" stands for what
// is none.
func Release(version string) string {
	found := semantic.FindStringSubmatch(strings.TrimSpace(version))
	if found == nil {
		return "1.0.0"
	}
	for i := 2; i <= 3; i++ {
		if found[i] == "" {
			found[i] = ".0"
		}
	}
	for i := 1; i <= 3; i++ { // without leading zeros
		digits := strings.TrimLeft(strings.TrimPrefix(found[i], "."), "0")
		if digits == "" {
			digits = "0"
		}
		found[i] = digits
	}
	return strings.Join(found[1:4], ".") + found[4] + found[5]
}

// text is the manifest as it stands in the bundle.
func (m *Manifest) text() ([]byte, error) {
	m.Version = "0.3"
	for _, key := range slices.Sorted(maps.Keys(m.UserConfig)) {
		if m.UserConfig[key].Description == "" {
			return nil, fmt.Errorf("the question %s has no description", key)
		}
	}
	return indented(m)
}

// Clipped is the beginning of a text on one line, of at most so many bytes.
func Clipped(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	const more = "…"
	text = strings.ToValidUTF8(text[:most-len(more)], "")
	if at := strings.LastIndexByte(text, ' '); at > most/2 {
		text = text[:at]
	}
	return text + more
}
