package cluster

import (
	"kubeopera.io/local-cluster/images"
	"kubeopera.io/local-cluster/machine"
)

// Hidden runs the command with which this program called itself inside a machine, if it is one. The main function of every program that
// brings clusters up gives it its arguments first.
func Hidden(arguments []string) (handled bool, err error) {
	if len(arguments) != 2 {
		return false, nil
	}
	switch arguments[0] {
	case machine.FirstCommand:
		return true, machine.First(arguments[1])
	case machine.DaemonCommand:
		return true, machine.StartDaemon(arguments[1])
	case images.StoreCommand:
		return true, images.Fill(arguments[1])
	case ResolveCommand:
		return true, Resolve(arguments[1])
	}
	return false, nil
}
