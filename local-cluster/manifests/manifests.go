// Package manifests puts the install manifests of what runs in a cluster together from the modules that it is built from. None of them is
// committed: they are upstream's text.
package manifests

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// kustomize puts the objects in a folder together with the kubectl that is built here.
func kustomize(ctx context.Context, programs, dir string) ([]byte, error) {
	command := exec.CommandContext(ctx, filepath.Join(programs, "kubernetes"), "kubectl", "kustomize", dir)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	manifest, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("kustomize does not put it together: %w: %s", err, complaint.String())
	}
	return manifest, nil
}

// writeAll writes the files, by their paths below dir.
func writeAll(dir string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
