package build

import (
	"context"
	"encoding/json"
	"fmt"
)

// Module is the folder with the sources of a module that the component is built from, downloaded when they are not there yet.
func (c Component) Module(ctx context.Context, path string) (string, error) {
	dir, err := c.Dir()
	if err != nil {
		return "", err
	}
	// Without a version, the version is the one of the component's go.mod.
	output, err := goCommand(ctx, dir, "mod", "download", "-json", path).Output()
	if err != nil {
		return "", fmt.Errorf("the Go module %s cannot be had: %w", path, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(output, &module); err != nil || module.Dir == "" {
		return "", fmt.Errorf("the Go module %s has no folder: %s", path, output)
	}
	return module.Dir, nil
}
