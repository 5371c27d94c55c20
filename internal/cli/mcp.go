package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"carteira/internal/web/agent"
)

// AgentVariables are those in which carteira mcp finds the address of the installation
// and its token. The token is no flag: other users of the machine can read the
// arguments of a process.
var AgentVariables = [2]string{"CARTEIRA_API_URL", "CARTEIRA_API_TOKEN"}

func mcpCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the API to a model, over standard input and output (Model Context Protocol)",
		Long: `Serves every operation of the API as a tool of the Model Context Protocol, over
standard input and output, for programs such as Claude Desktop that start their
servers themselves. It calls an installation over the network, as any other client,
with the token in ` + AgentVariables[1] + `. A token for reading has only the tools that read.

Programs that can call a server over HTTP need no command: every installation serves
the same at /mcp, with the token as bearer.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			to := agent.Installation{
				Token:     os.Getenv(AgentVariables[1]),
				Transport: &http.Transport{Proxy: http.ProxyFromEnvironment},
			}
			if to.Token == "" {
				return errors.New("set " + AgentVariables[1] + " to a token of the API (carteira token create)")
			}
			if given := os.Getenv(AgentVariables[0]); given != "" && !cmd.Flags().Changed("url") {
				address = given
			}
			var err error
			if to.Address, err = url.Parse(address); err != nil || to.Address.Host == "" {
				return usageError{fmt.Errorf("%s is no address such as https://clientes.example.com", address)}
			}
			return agent.Serve(cmd.Context(), to, io.NopCloser(cmd.InOrStdin()), unclosed{cmd.OutOrStdout()})
		},
	}
	cmd.Flags().StringVar(&address, "url", "http://127.0.0.1:8080", "address of the installation ["+AgentVariables[0]+"]")
	return cmd
}

// unclosed keeps standard output open for what the program may have to say last.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
