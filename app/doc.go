// Package app turns a plain [Config] into a running server: sources, a gateway with
// their tools, and an MCP server. A Go program that imports it serves the config
// files of the command tenon, reloads descriptions when they change, and can change
// any setting before it starts.
//
// It does not know command lines, terminals or signals: the command makes flags of
// [Settings], the one list from which the keys of config files are made, too. What a
// setting does is the business of the packages that it is passed to.
//
// It is the first step of the path of a description: config → sources → catalog →
// gateway → server.
package app
