package documents

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carteira/internal/cli"
)

var (
	code        = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")
	commandLine = regexp.MustCompile("(?:^|[\\s/`($])carteira((?: +[^\\s`)]+)+)")
	plainWord   = regexp.MustCompile(`^[a-z]+$`)
)

// command is a call of the program in a document.
type command struct {
	words []string
	flags []string
}

// commands finds the calls in the code of a text.
func commands(text string) []command {
	var list []command
	for _, c := range code.FindAllString(text, -1) {
		for line := range strings.Lines(strings.ReplaceAll(c, "\\\n", " ")) {
			line, _, _ = strings.Cut(line, " #")
			for _, m := range commandLine.FindAllStringSubmatch(line, -1) {
				list = append(list, parse(strings.Fields(m[1])))
			}
		}
	}
	return list
}

func parse(fields []string) command {
	var c command
	naming := true
	for _, field := range fields {
		field = strings.TrimRight(field, ",.;:")
		naming = naming && plainWord.MatchString(field)
		if naming {
			c.words = append(c.words, field)
		}
		if strings.HasPrefix(field, "--") {
			flag, _, _ := strings.Cut(field, "=")
			c.flags = append(c.flags, flag)
		}
	}
	return c
}

// help is what the program says of a command; "" when there is no such one.
func help(ctx context.Context, words []string) string {
	var out, failures bytes.Buffer
	code := cli.Run(ctx, append(slices.Clone(words), "--help"), strings.NewReader(""), &out, &failures)
	usage := regexp.MustCompile(`Usage:\n  carteira` + strings.Join(append([]string{""}, words...), " ") + `( [A-Z[]|\n)`)
	if code != 0 || !usage.MatchString(out.String()) {
		return ""
	}
	return out.String()
}

// checkCommands finds calls of commands and flags that do not exist.
func checkCommands(ctx context.Context, text string) []string {
	var problems []string
	for _, command := range commands(text) {
		said := help(ctx, command.words)
		if said == "" {
			problems = append(problems, fmt.Sprintf("there is no command carteira %s", strings.Join(command.words, " ")))
			continue
		}
		for _, flag := range command.flags {
			if !regexp.MustCompile(flag + `\b`).MatchString(said) {
				problems = append(problems, fmt.Sprintf("carteira %s has no flag %s", strings.Join(command.words, " "), flag))
			}
		}
	}
	return problems
}

func TestCommandsExist(t *testing.T) {
	for name, text := range documents(t) {
		report(t, name, checkCommands(t.Context(), text))
	}
	if n := len(commands(read(t, "README.md"))); n < 7 {
		t.Errorf("only %d commands were found in README.md", n)
	}
}

func TestAnInventedCommandIsFound(t *testing.T) {
	text := "`carteira dance`, prose about carteira dancing, `carteira token create --company 1 --colour red`, `./cmd/carteira demo`\n" +
		"```sh\nT=$(carteira token make --company 1)\ncarteira plan create --name X \\\n  --price 3\ncarteira serve   # --nothing\ncarteira backup copy.db\n```\n`carteira import`, `carteira --help`\n"
	wantProblems(t, checkCommands(t.Context(), text),
		"no command carteira dance", "carteira token create has no flag --colour", "no command carteira token make", "carteira plan create has no flag --price")
}

var target = regexp.MustCompile("(?m)(?:^|[`$ ])make ([a-z][a-z0-9-]*)")

func checkTargets(text, makefile string) []string {
	var problems []string
	for _, c := range code.FindAllString(text, -1) {
		for _, m := range target.FindAllStringSubmatch(c, -1) {
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).MatchString(makefile) {
				problems = append(problems, "the Makefile has no "+m[1])
			}
		}
	}
	return problems
}

func TestMakeTargetsExist(t *testing.T) {
	makefile := read(t, "Makefile")
	for name, text := range documents(t) {
		report(t, name, checkTargets(text, makefile))
	}
}

func TestAnInventedTargetIsFound(t *testing.T) {
	wantProblems(t, checkTargets("`make test`, `make coffee`, make nothing of this\n```sh\nmake build # x\nmake tea\n```", "test: build\nbuild:\n"),
		"no coffee", "no tea")
}
