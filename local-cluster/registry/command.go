package registry

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// Command is `local-cluster registry`.
func Command() *cobra.Command {
	command := &cobra.Command{
		Use:   "registry",
		Short: "The mirror of images and charts for clusters without the internet",
	}
	command.AddCommand(
		&cobra.Command{
			Use: "up", Short: "Start the mirror at " + Address, Args: cobra.NoArgs,
			RunE: func(command *cobra.Command, _ []string) error { return Mirror().Up(command.Context()) },
		},
		&cobra.Command{
			Use: "down", Short: "Stop the mirror; its content stays", Args: cobra.NoArgs,
			RunE: func(command *cobra.Command, _ []string) error { return Mirror().Down(command.Context()) },
		},
		&cobra.Command{
			Use: "fill", Short: "Start the mirror and put everything into it that is not there yet", Args: cobra.NoArgs, RunE: fill,
		},
		&cobra.Command{
			Use: "list", Short: "List what the mirror serves, and whether it is there", Args: cobra.NoArgs, RunE: list,
		},
		&cobra.Command{
			Use: "address", Short: "Print the mirror's address", Args: cobra.NoArgs,
			Run: func(command *cobra.Command, _ []string) { fmt.Fprintln(command.OutOrStdout(), Address) },
		},
	)
	return command
}

func fill(command *cobra.Command, _ []string) error {
	entries, err := Catalog()
	if err != nil {
		return err
	}
	mirror := Mirror()
	if err := mirror.Up(command.Context()); err != nil {
		return err
	}
	filled, err := mirror.Fill(command.Context(), entries, command.ErrOrStderr())
	if err != nil {
		return err
	}
	fmt.Fprintf(command.OutOrStdout(), "the mirror at %s serves %d images and charts: %d added, %d were there\n",
		mirror.Address, len(entries), filled.Added, filled.Unchanged)
	return nil
}

func list(command *cobra.Command, _ []string) error {
	entries, err := Catalog()
	if err != nil {
		return err
	}
	mirror := Mirror()
	running := mirror.answers(command.Context(), client) == nil
	table := tabwriter.NewWriter(command.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KIND\tUPSTREAM\tMIRROR\tTHERE")
	for _, entry := range entries {
		there := "mirror is down"
		if running {
			has, err := mirror.Has(command.Context(), entry.Name)
			if err != nil {
				return err
			}
			there = map[bool]string{true: "yes", false: "no"}[has]
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", entry.Kind, entry.Upstream, entry.Name.In(mirror.Address), there)
	}
	return table.Flush()
}
