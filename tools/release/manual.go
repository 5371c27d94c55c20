package main

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"carteira/internal/cli"
)

// writeManual writes man pages and completions of every command.
func writeManual(dir, version string, made time.Time) error {
	man, completion := filepath.Join(dir, "man"), filepath.Join(dir, "completion")
	if err := errors.Join(os.MkdirAll(man, 0o750), os.MkdirAll(completion, 0o750)); err != nil {
		return err
	}
	root := cli.Command()
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Title: "CARTEIRA", Section: "1", Source: "Carteira " + version, Manual: "Carteira", Date: &made}
	if err := doc.GenManTree(root, header, man); err != nil {
		return err
	}
	if err := compress(man, made); err != nil {
		return err
	}
	return writeCompletion(root, completion)
}

func writeCompletion(root *cobra.Command, dir string) error {
	return errors.Join(root.GenBashCompletionFileV2(filepath.Join(dir, "carteira.bash"), true),
		root.GenZshCompletionFile(filepath.Join(dir, "_carteira")),
		root.GenFishCompletionFile(filepath.Join(dir, "carteira.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(dir, "carteira.ps1")))
}

// compress packs the pages, as distributions want them.
func compress(dir string, made time.Time) error {
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		out, err := os.Create(page + ".gz")
		if err != nil {
			return err
		}
		w, _ := gzip.NewWriterLevel(out, gzip.BestCompression)
		w.ModTime = made
		_, err = w.Write(text)
		if err := errors.Join(err, w.Close(), out.Close(), os.Remove(page)); err != nil {
			return err
		}
	}
	return nil
}
