package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carteira/internal/platform/config"
)

func readyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ready",
		Short: "Ask the server on this machine whether it is ready",
		Long: `Ready asks /readyz of the address that the server listens on, and prints the
answer. The exit code is 0 when it is ready: a health check for containers
that have no other program.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings(cmd)
			if err != nil {
				return err
			}
			return askReady(cmd, cfg)
		},
	}
	addSettings(cmd.Flags(), true)
	return cmd
}

func askReady(cmd *cobra.Command, cfg config.Config) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, readyURL(cfg), nil)
	if err != nil {
		return err
	}
	tlsConfig := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // it is this machine; the certificate is for another name
	if len(cfg.TLSDomains) > 0 {
		tlsConfig.ServerName = cfg.TLSDomains[0]
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", strings.TrimSpace(string(text)))
	}
	fmt.Fprint(cmd.OutOrStdout(), string(text))
	return nil
}

// readyURL is where the server of these settings listens, as seen from its own
// machine.
func readyURL(cfg config.Config) string {
	scheme, address := "http", cfg.Listen
	if cfg.HTTPS() {
		scheme = "https"
	}
	if len(cfg.TLSDomains) > 0 {
		address = cfg.ACME.Listen
	}
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/readyz"
}
