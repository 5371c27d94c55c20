package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An installed package has its settings in environmentFile, which systemd reads
// for the service. The installed program reads it for its commands too: they
// would otherwise look for the service's database in another folder.
var (
	environmentFile  = "/etc/carteira/carteira.env"
	installedProgram = "/usr/bin/carteira"
)

// withEnvironmentFile looks a variable up in the environment, and else in the
// file of the installed package.
func withEnvironmentFile(environment func(string) (string, bool)) (func(string) (string, bool), error) {
	program, err := os.Executable()
	if err != nil || filepath.Clean(program) != installedProgram {
		return environment, nil //nolint:nilerr // not what the package installed
	}
	text, err := os.ReadFile(environmentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return environment, nil
	}
	if _, given := environment("CARTEIRA_DATA_DIR"); err != nil && given {
		return environment, nil // all that a command needs
	}
	if err != nil {
		return nil, fmt.Errorf("the settings of the service cannot be read; run the command as its user, "+
			"`sudo -u carteira carteira …`, or give CARTEIRA_DATA_DIR: %w", err)
	}
	settings := parseEnvironment(string(text))
	return func(name string) (string, bool) {
		if value, given := environment(name); given {
			return value, true
		}
		value, given := settings[name]
		return value, given
	}, nil
}

// parseEnvironment reads lines NAME=VALUE as systemd does: comments begin with #
// or ;, and quotes around a value are not part of it.
func parseEnvironment(text string) map[string]string {
	settings := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, found := strings.Cut(line, "=")
		if !found || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.TrimSpace(value)
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		settings[strings.TrimSpace(name)] = value
	}
	return settings
}
