package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/cluster"
	"kubeopera.io/local-cluster/images"
	"kubeopera.io/local-cluster/manifests"
	"kubeopera.io/local-cluster/registry"
)

func root() *cobra.Command {
	command := &cobra.Command{
		Use:           "local-cluster",
		Short:         "Real Kubernetes clusters on one machine, built from Go modules",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	command.CompletionOptions.DisableDefaultCmd = true
	command.AddCommand(up(), down(), list(), stop(), start(), loadImage(), imageFile(), bench(), kubeconfig(), kubectl(), fluxManifest(), buildCommand(), registry.Command())
	return command
}

func up() *cobra.Command {
	var spec cluster.Spec
	var version string
	command := &cobra.Command{
		Use:   "up NAME",
		Short: "Make sure that the cluster runs; start it, or repair what is missing",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			if err := cluster.CheckVersion(version); err != nil {
				return err
			}
			if spec.ControlPlaneOnly && !command.Flags().Changed("nodes") {
				spec.Nodes = 0
			}
			_, _, err := cluster.Up(command.Context(), arguments[0], spec, os.Stdout)
			return err
		},
	}
	flags := command.Flags()
	flags.BoolVar(&spec.ControlPlaneOnly, "control-plane-only", false, "no node: an API server with its controllers, enough for a cluster that is only connected to")
	flags.IntVar(&spec.Nodes, "nodes", 1, "how many nodes run pods")
	flags.IntVar(&spec.KwokNodes, "kwok-nodes", 0, "how many nodes only exist in the API, played by kwok (tainted kwok.x-k8s.io/node=fake:NoSchedule)")
	flags.BoolVar(&spec.MetricsServer, "metrics-server", false, "install metrics-server")
	flags.BoolVar(&spec.LeaderElection, "leader-election", false, "let scheduler and controller manager hold Leases, by which is seen whether they work")
	flags.StringVar(&spec.ProviderID, "provider-id", "", "provider ID of the first node, such as aws:///eu-north-1a/i-0abc; further nodes get their number appended")
	flags.StringVar(&spec.InstanceType, "instance-type", "", "label node.kubernetes.io/instance-type of the nodes")
	flags.StringVar(&spec.Region, "region", "", "label topology.kubernetes.io/region of the nodes")
	flags.StringVar(&spec.Zone, "zone", "", "label topology.kubernetes.io/zone of the nodes")
	flags.StringToStringVar(&spec.Labels, "node-label", nil, "further labels of the nodes, KEY=VALUE")
	flags.BoolVar(&spec.Ephemeral, "ephemeral", false, "throw the data away when the cluster stops, and do not wait for the disk")
	flags.StringVar(&version, "kubernetes-version", "", "the version of Kubernetes (the one there is: "+strings.TrimPrefix(build.KubernetesVersion, "v")+")")
	return command
}

func down() *cobra.Command {
	var deleteData bool
	command := &cobra.Command{
		Use:   "down NAME",
		Short: "Stop the cluster; no process, mount, link, control group or rule of it is left",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			return cluster.Down(command.Context(), arguments[0], deleteData, os.Stdout)
		},
	}
	command.Flags().BoolVar(&deleteData, "delete-data", false, "delete the cluster's data too, so that `up` makes a new one")
	return command
}

func list() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the clusters of this machine",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			all, err := cluster.FindAll(os.Stdout)
			if err != nil {
				return err
			}
			lost, err := cluster.Lost(os.Stdout)
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "NAME\tSTATE\tSERVER\tMEMORY\tOPTIONS")
			for _, c := range append(all, lost...) {
				memory, err := c.Memory()
				if err != nil {
					return err
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%d MB\t%s\n", c.Name, c.State(), c.Server(), memory>>20, c.Options())
			}
			return table.Flush()
		},
	}
}

func kubeconfig() *cobra.Command {
	var path bool
	command := &cobra.Command{
		Use:   "kubeconfig NAME",
		Short: "Print the administrator's kubeconfig",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			c, err := cluster.Find(arguments[0], os.Stdout)
			if err != nil {
				return err
			}
			if path {
				fmt.Println(c.Kubeconfig())
				return nil
			}
			content, err := os.ReadFile(c.Kubeconfig())
			if err != nil {
				return fmt.Errorf("the cluster %s has no kubeconfig yet: run `local-cluster up %s` (%w)", c.Name, c.Name, err)
			}
			_, err = os.Stdout.Write(content)
			return err
		},
	}
	command.Flags().BoolVar(&path, "path", false, "print the path of the file instead")
	return command
}

func kubectl() *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl",
		Short: "Print the path of a program that acts as kubectl when it is called by that name, for machines that have none",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			programs, err := build.Kubernetes.Ensure(command.Context(), os.Stderr)
			if err != nil {
				return err
			}
			fmt.Println(filepath.Join(programs, "kubernetes"))
			return nil
		},
	}
}

func buildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build",
		Short: "Build all that clusters are made of: programs, images, Flux's install manifest",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			for _, component := range build.All {
				dir, err := component.Ensure(command.Context(), os.Stdout)
				if err != nil {
					return err
				}
				fmt.Printf("%s: %s\n", component.Name, dir)
			}
			for _, set := range images.All {
				path, _, err := set.File(command.Context(), os.Stdout)
				if err != nil {
					return err
				}
				fmt.Printf("images of %s: %s\n", set.Name, path)
			}
			path, _, err := manifests.Flux(command.Context(), os.Stdout)
			if err == nil {
				fmt.Printf("Flux's install manifest: %s\n", path)
			}
			return err
		},
	}
}

func fluxManifest() *cobra.Command {
	return &cobra.Command{
		Use:   "flux-manifest",
		Short: "Print the path of Flux's install manifest, and its SHA-256",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			path, sum, err := manifests.Flux(command.Context(), os.Stderr)
			if err == nil {
				fmt.Printf("%s\n%s\n", path, sum)
			}
			return err
		},
	}
}

func stop() *cobra.Command {
	var kill bool
	command := &cobra.Command{
		Use:   "stop NAME PROGRAM",
		Short: "Stop one program of a running cluster, to see what happens without it",
		Long:  "Stop one program of a running cluster: " + strings.Join(cluster.Daemons, ", ") + ".\nOf the programs that each node has, kubelet/1 is the one of the second node.",
		Args:  cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, arguments []string) error {
			return cluster.StopDaemon(command.Context(), arguments[0], arguments[1], kill, os.Stdout)
		},
	}
	command.Flags().BoolVar(&kill, "kill", false, "by SIGKILL, without asking it to end")
	return command
}

func start() *cobra.Command {
	return &cobra.Command{
		Use:   "start NAME PROGRAM",
		Short: "Start one program again that was stopped",
		Args:  cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, arguments []string) error {
			return cluster.StartDaemon(command.Context(), arguments[0], arguments[1], os.Stdout)
		},
	}
}

func loadImage() *cobra.Command {
	return &cobra.Command{
		Use:   "load-image NAME FILE...",
		Short: "Import image files (tar, as `docker save` writes them) on every node of a cluster",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(command *cobra.Command, arguments []string) error {
			return cluster.LoadImages(command.Context(), arguments[0], arguments[1:], os.Stdout)
		},
	}
}

func imageFile() *cobra.Command {
	var names []string
	for _, set := range images.All {
		names = append(names, set.Name)
	}
	return &cobra.Command{
		Use:       "image-file SET",
		Short:     "Print the path of an image file that is made here: " + strings.Join(names, ", "),
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: names,
		RunE: func(command *cobra.Command, arguments []string) error {
			for _, set := range images.All {
				if set.Name == arguments[0] {
					path, _, err := set.File(command.Context(), os.Stderr)
					if err == nil {
						fmt.Println(path)
					}
					return err
				}
			}
			return nil
		},
	}
}

func bench() *cobra.Command {
	return &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast clusters start and how much memory they take",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			figures, err := cluster.Bench(command.Context(), os.Stdout)
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "\nWHAT\tMEASURED\tGOAL\t")
			for _, figure := range figures {
				verdict := "met"
				if figure.Measured > figure.Goal {
					verdict = "missed"
				}
				fmt.Fprintf(table, "%s\t%.2f %s\t%.2f %s\t%s\n", figure.What, figure.Measured, figure.Unit, figure.Goal, figure.Unit, verdict)
			}
			return table.Flush()
		},
	}
}
