package documents

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carteira/internal/cli"
	"carteira/internal/platform/config"
)

// settingsTable is the table of docs/operating.md.
func settingsTable(settings []config.Setting) string {
	cell := func(prefix, text string) string {
		if text == "" {
			return " |"
		}
		return " `" + prefix + text + "` |"
	}
	var out strings.Builder
	for _, setting := range settings {
		fmt.Fprintf(&out, "|%s%s%s %s |\n", cell("", setting.Env), cell("--", setting.Name), cell("", setting.Default), setting.Help)
	}
	return out.String()
}

const settingsHead = "| variable | flag | default | meaning |\n|---|---|---|---|\n"

func checkSettings(text string, settings []config.Setting) []string {
	if table := settingsTable(settings); !strings.Contains(text, settingsHead+table+"\n") {
		return []string{"its table of settings should be:\n" + settingsHead + table}
	}
	return nil
}

func TestOperatingHasEverySetting(t *testing.T) {
	report(t, "docs/operating.md", checkSettings(read(t, "docs/operating.md"), config.Settings))
}

func TestAMissingOrExtraSettingIsFound(t *testing.T) {
	settings := []config.Setting{
		{Name: "listen", Env: "CARTEIRA_LISTEN", Default: ":80", Help: "address"}, {Env: "CARTEIRA_SECRET_KEY", Help: "key"},
	}
	table := settingsHead + "| `CARTEIRA_LISTEN` | `--listen` | `:80` | address |\n| `CARTEIRA_SECRET_KEY` | | | key |\n"
	wantProblems(t, checkSettings("# X\n"+table+"\nMore.", settings))
	wantProblems(t, checkSettings(strings.Replace(table, ":80", ":81", 1)+"\n", settings), "should be:\n"+table)
	wantProblems(t, checkSettings(table+"| `CARTEIRA_OLD` | | | gone |\n\n", settings), "should be")
}

var variable = regexp.MustCompile(`CARTEIRA_[A-Z_]+[A-Z]`)

// checkVariables finds variables that nothing reads. A name followed by … is
// the beginning of several.
func checkVariables(text string, settings []config.Setting) []string {
	var problems []string
	for _, at := range variable.FindAllStringIndex(text, -1) {
		name, several := text[at[0]:at[1]], strings.HasPrefix(text[at[1]:], "…")
		known := name == "CARTEIRA_TEST_POSTGRES_URL" || slices.Contains(cli.AgentVariables[:], name) || slices.ContainsFunc(settings, func(setting config.Setting) bool {
			return setting.Env == name || several && strings.HasPrefix(setting.Env, name)
		})
		if !known {
			problems = append(problems, "nothing reads "+name)
		}
	}
	return problems
}

func TestVariablesExist(t *testing.T) {
	for name, text := range documents(t) {
		report(t, name, checkVariables(text, config.Settings))
	}
}

func TestAnInventedVariableIsFound(t *testing.T) {
	settings := []config.Setting{{Env: "CARTEIRA_LISTEN"}, {Env: "CARTEIRA_TLS_CERT"}}
	wantProblems(t, checkVariables("`CARTEIRA_LISTEN=:80`, CARTEIRA_TLS… and CARTEIRA_TLS, CARTEIRA_PORT=1.", settings),
		"nothing reads CARTEIRA_TLS", "nothing reads CARTEIRA_PORT")
}
