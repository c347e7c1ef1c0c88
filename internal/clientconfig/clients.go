package clientconfig

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Scope is for what a server is configured.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // for everything that a person does
	Project Scope = "project" // for one folder
)

// System is what places of files depend on.
type System struct {
	OS     string // as runtime.GOOS
	Getenv func(string) (string, bool)
	Dir    string // the project's folder, absolute
}

func (s System) env(name string) string {
	value, _ := s.Getenv(name)
	return value
}

// home is the folder of the user.
func (s System) home() string {
	if s.OS == "windows" {
		return s.env("USERPROFILE")
	}
	return s.env("HOME")
}

// appData is where programs with windows keep their settings, as Electron's
// app.getPath("appData") says it.
func (s System) appData() string {
	switch s.OS {
	case "windows":
		return s.env("APPDATA")
	case "darwin":
		return under(s.home(), "Library", "Application Support")
	}
	if dir := s.env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return under(s.home(), ".config")
}

// under joins the parts of a path; of an unknown beginning it is unknown.
func under(base string, parts ...string) string {
	if base == "" {
		return ""
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// Client is an MCP client.
type Client struct {
	Name  string // as on the command line
	Title string // as its makers write it
	After string // what has to be done for the client to see a new server

	format  format
	key     string // of the object or table with the servers
	typed   bool   // entries say that they are of type stdio
	user    func(System) string
	project string // below the project's folder; empty: it has no such file
}

// clients are the known clients. Where their files are, and what is in them, is
// what their makers said on 2026-11-23, and for Claude Code 2.1.197, Codex 0.169.0
// and Gemini CLI 0.61.0 what their own command `mcp add` wrote on that day.
func clients() []Client {
	return []Client{
		{
			// https://modelcontextprotocol.io/quickstart/user, "Installing the Filesystem
			// Server"; the folder on Linux is that of Electron.
			Name: "claude-desktop", Title: "Claude Desktop", After: "restart Claude Desktop", format: jsonFormat{}, key: "mcpServers",
			user: func(s System) string { return under(s.appData(), "Claude", "claude_desktop_config.json") },
		},
		{
			// https://code.claude.com/docs/en/mcp, "MCP installation scopes", and
			// CLAUDE_CONFIG_DIR in https://code.claude.com/docs/en/settings.
			Name: "claude-code", Title: "Claude Code", After: "start a new session of Claude Code", format: jsonFormat{}, key: "mcpServers", typed: true,
			user: func(s System) string {
				if dir := s.env("CLAUDE_CONFIG_DIR"); dir != "" {
					return filepath.Join(dir, ".claude.json")
				}
				return under(s.home(), ".claude.json")
			},
			project: ".mcp.json",
		},
		{
			// https://cursor.com/docs/mcp, "Configuration locations".
			Name: "cursor", Title: "Cursor", After: "restart Cursor, and turn the server on in its settings", format: jsonFormat{}, key: "mcpServers",
			user:    func(s System) string { return under(s.home(), ".cursor", "mcp.json") },
			project: filepath.Join(".cursor", "mcp.json"),
		},
		{
			// https://code.visualstudio.com/docs/agents/reference/mcp-configuration; the
			// folder of the default profile is that of its settings.json,
			// https://code.visualstudio.com/docs/configure/settings.
			Name: "vscode", Title: "VS Code", After: "start the server from the list of MCP servers in VS Code", format: jsonFormat{}, key: "servers", typed: true,
			user:    func(s System) string { return under(s.appData(), "Code", "User", "mcp.json") },
			project: filepath.Join(".vscode", "mcp.json"),
		},
		{
			// https://developers.openai.com/codex/mcp and
			// https://developers.openai.com/codex/config-advanced; the file of a project
			// counts where the user trusts the project.
			Name: "codex", Title: "Codex", After: "start a new session of Codex", format: tomlFormat{}, key: "mcp_servers",
			user: func(s System) string {
				if dir := s.env("CODEX_HOME"); dir != "" {
					return filepath.Join(dir, "config.toml")
				}
				return under(s.home(), ".codex", "config.toml")
			},
			project: filepath.Join(".codex", "config.toml"),
		},
		{
			// https://geminicli.com/docs/cli/configuration, "Settings files", and
			// https://geminicli.com/docs/tools/mcp-server.
			Name: "gemini-cli", Title: "Gemini CLI", After: "start a new session of Gemini CLI in a folder that it trusts", format: jsonFormat{}, key: "mcpServers",
			user:    func(s System) string { return under(s.home(), ".gemini", "settings.json") },
			project: filepath.Join(".gemini", "settings.json"),
		},
	}
}

// Names are the names of all clients.
func Names() []string {
	var names []string
	for _, c := range clients() {
		names = append(names, c.Name)
	}
	return names
}

// Find returns the client of a name; nil: there is none.
func Find(name string) *Client {
	all := clients()
	if at := slices.IndexFunc(all, func(c Client) bool { return c.Name == name }); at >= 0 {
		return &all[at]
	}
	return nil
}

// File is where a client looks for servers. It need not exist.
func (c *Client) File(scope Scope, s System) (string, error) {
	if scope == Project {
		if c.project == "" {
			return "", fmt.Errorf("%s has no configuration of a project", c.Title)
		}
		return filepath.Join(s.Dir, c.project), nil
	}
	file := c.user(s)
	if file == "" {
		variable := "HOME"
		if s.OS == "windows" {
			variable = "USERPROFILE or APPDATA"
		}
		return "", fmt.Errorf("the environment has no %s, so it is not known where %s has its configuration", variable, c.Title)
	}
	return filepath.Abs(file)
}
