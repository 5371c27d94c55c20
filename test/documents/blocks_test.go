package documents

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	pastedCommands = "TestCommandsOfTheDocumentsWork"
	clientPrograms = "TestProgramsOfTheClientsRun"
	typescript     = "TestClientOfOursCompilesAndCalls"
	// It takes root, systemd or Docker to type them.
	packages = "TestDebIsInstalledStartedAsItsOwnUserAndRemoved"
)

// held says of every block of the documents which test runs it as it is written, or, after quoted:, which folder has the
// source that it shows, which is compiled and tested there. A program has its name in its first line; other blocks of
// a document go by their language.
var held = map[string]string{
	"README.md sh":                          pastedCommands,
	"README.pt-BR.md sh":                    packages,
	"clients/php/README.md first.php":       clientPrograms,
	"clients/php/README.md feed.php":        clientPrograms,
	"clients/php/README.md hook.php":        "TestClientsCheckTheSignatureOfWebhooks",
	"clients/python/README.md first.py":     clientPrograms,
	"clients/python/README.md feed.py":      clientPrograms,
	"clients/python/README.md hook.py":      "TestClientsCheckTheSignatureOfWebhooks",
	"clients/typescript/README.md first.ts": typescript,
	"clients/typescript/README.md feed.ts":  typescript,
	"clients/typescript/README.md hook.ts":  typescript,
	"docs/agents.md json":                   "TestConfigurationsOfAssistantsConnect",
	"docs/agents.md sh":                     pastedCommands,
	"docs/benchmarks.md sh":                 "TestMakeTargetsExist",
	"docs/clients.md go":                    "TestGoProgramOfTheDocumentationCalls",
	"docs/clients.md sh":                    "TestGoProgramOfTheDocumentationCalls",
	"docs/clients.md yaml":                  "quoted: test/openapi/redocly.yaml",
	"docs/cookbook.md thank.mjs":            "TestCookbookThanksOnWhatsApp",
	"docs/cookbook.md access.py":            "TestCookbookCutsAndRestoresAccess",
	"docs/cookbook.md provider.py":          "TestCookbookBlocksAndReleasesAtAProvider",
	"docs/cookbook.md spreadsheet.py":       "TestCookbookWritesASpreadsheet",
	"docs/cookbook.md changes.py":           "TestCookbookCopiesWhatChanged",
	"docs/cookbook.md checkout.mjs":         "TestCookbookHasACheckout",
	"docs/instalar.md powershell":           "TestCommandsExist",
	"docs/instalar.md sh":                   packages,
	"docs/installing.md sh":                 packages,
	"docs/operating.md sh":                  pastedCommands,
	"docs/panel.md go":                      "quoted: internal/web",
	"docs/panel.md html":                    "quoted: internal/web/page/testdata",
	"docs/payments.md sh":                   pastedCommands,
	"docs/quickstart.md sh":                 "TestQuickstartWorksWhenPasted",
	"docs/reminders.md json":                "TestRequestIsAsTheDocumentShowsIt",
	"docs/reminders.md sh":                  pastedCommands,
	"docs/sandbox.md sh":                    "TestStepsOfTheSandboxDocumentWork",
	"docs/webhooks.md sh":                   pastedCommands,
}

var (
	fenced    = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$")
	named     = regexp.MustCompile(`^(?:<\?php )?(?://|#) (\S+\.\w+)\n`)
	typed     = regexp.MustCompile(`(?m)^(?:\$ )?(?:carteira|curl|make|go|npm|sudo|docker) `)
	paragraph = regexp.MustCompile(`\n\n+`)
)

// checkBlocks wants every block to be held. It takes note of what holds one, and hasTest and quotes look it up.
func checkBlocks(document, text string, used map[string]bool, hasTest func(string) bool, quotes func(folder, block string) error) []string {
	var problems []string
	for _, m := range fenced.FindAllStringSubmatch(text, -1) {
		kind, block := m[1], m[2]
		if kind == "" {
			if typed.MatchString(block) && !strings.Contains(block, "─") { // a picture has lines
				problems = append(problems, "a block with commands does not say its language: "+block)
			}
			continue
		}
		if name := named.FindStringSubmatch(block); name != nil {
			kind = name[1]
		}
		key := document + " " + kind
		used[key] = true
		folder, quoted := strings.CutPrefix(held[key], "quoted: ")
		switch {
		case held[key] == "":
			problems = append(problems, "nothing is said to run its "+kind+": see held in test/documents/blocks_test.go")
		case quoted:
			if err := quotes(folder, block); err != nil {
				problems = append(problems, err.Error())
			}
		case !hasTest(held[key]):
			problems = append(problems, "there is no test "+held[key])
		}
	}
	return problems
}

func TestEveryBlockIsRunOrQuoted(t *testing.T) {
	source := strings.Join(slices.Collect(maps.Values(goFiles(t))), "\n") + read(t, "test/documents/commands_test.go")
	hasTest := func(name string) bool { return strings.Contains(source, "func "+name+"(t *testing.T)") }
	used := map[string]bool{}
	for name, text := range documents(t) {
		report(t, name, checkBlocks(name, text, used, hasTest, quotes))
	}
	for key := range held {
		if !used[key] {
			t.Errorf("there is no block %s", key)
		}
	}
}

// quotes wants each paragraph of a block in a file under folder, whatever its indentation.
func quotes(folder, block string) error {
	var source strings.Builder
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".go", ".html", ".yaml"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		source.WriteString(flush(string(text)))
		return err
	})
	if err != nil {
		return err
	}
	for _, part := range paragraph.Split(strings.TrimSpace(block), -1) {
		if !strings.Contains(source.String(), flush(part)) {
			return fmt.Errorf("%s does not have what it shows: %s", folder, part)
		}
	}
	return nil
}

// flush is a text without the spaces at the beginnings of its lines.
func flush(text string) string {
	var lines strings.Builder
	for line := range strings.Lines(text) {
		lines.WriteString(strings.TrimSpace(line) + "\n")
	}
	return lines.String()
}

func TestABlockThatNothingRunsIsFound(t *testing.T) {
	text := "```sh\ncarteira serve\n```\n```rust\nfn main() {}\n```\n```\na ──► b\n```\n```\nmake tea\n```\n```json\n{}\n```\n"
	none := func(string) bool { return false }
	wantProblems(t, checkBlocks("docs/agents.md", text, map[string]bool{}, none, quotes),
		"no test TestCommandsOfTheDocumentsWork", "run its rust", "make tea", "no test TestConfigurationsOfAssistantsConnect")
	wantProblems(t, checkBlocks("docs/clients.md", "```yaml\nrules:\n  nothing: on\n```\n", map[string]bool{}, none, quotes), "nothing: on")
}
