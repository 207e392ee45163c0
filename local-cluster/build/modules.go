package build

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// Modules are the folders of some modules that the module in dir requires. They are fetched when they are not there, and checked against
// its go.sum.
func Modules(ctx context.Context, dir string, paths ...string) (map[string]string, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"mod", "download", "-json"}, paths...)...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	output, failure := command.Output()
	dirs := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var fetched struct{ Path, Dir, Error string }
		if err := decoder.Decode(&fetched); err != nil {
			return nil, fmt.Errorf("what `go mod download` prints is not understood: %w", err)
		}
		if fetched.Error != "" {
			return nil, fmt.Errorf("the module %s cannot be downloaded: %s", fetched.Path, fetched.Error)
		}
		dirs[fetched.Path] = fetched.Dir
	}
	if failure != nil {
		return nil, fmt.Errorf("the modules %v cannot be downloaded: %w", paths, failure)
	}
	return dirs, nil
}
