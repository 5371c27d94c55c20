package cli

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"carteira/internal/web/agent"
)

// AgentURL and AgentToken are the variables in which carteira mcp finds the installation
// and its token. The token is no flag: other users of the machine can read the
// arguments of a process.
const (
	AgentURL   = "CARTEIRA_API_URL"
	AgentToken = "CARTEIRA_API_TOKEN"
)

func mcpCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the API to a model, over standard input and output (Model Context Protocol)",
		Long: `Serves every operation of the API as a tool of the Model Context Protocol, over
standard input and output, for programs such as Claude Desktop that start their
servers themselves. It calls an installation over the network, as any other client,
with the token in ` + AgentToken + `. A token for reading has only the tools that read.

Programs that can call a server over HTTP need no command: every installation serves
the same at /mcp, with the token as bearer.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token := os.Getenv(AgentToken)
			if token == "" {
				return errors.New("set " + AgentToken + " to a token of the API (carteira token create)")
			}
			if given := os.Getenv(AgentURL); given != "" && !cmd.Flags().Changed("url") {
				address = given
			}
			return agent.Serve(cmd.Context(), address, token, io.NopCloser(cmd.InOrStdin()), unclosed{cmd.OutOrStdout()})
		},
	}
	cmd.Flags().StringVar(&address, "url", "http://127.0.0.1:8080", "address of the installation ["+AgentURL+"]")
	return cmd
}

// unclosed keeps standard output open for what the program may have to say last.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
