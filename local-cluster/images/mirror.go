package images

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/image"
)

// The sets that only the mirror serves: cert-manager, and the provisioner of volumes on a node's disk with the image of its helper
// pods.
var (
	CertManager = Set{"cert-manager", []build.Component{build.CertManager}, certManager}
	LocalPath   = Set{"local-path-provisioner", []build.Component{build.Addons}, localPath}
)

// Real are the sets of all images that are the real thing: those containerd imports, and the mirror's.
var Real = append(append([]Set{}, All...), CertManager, LocalPath)

// References are the names of the set's images. Nothing is built for them.
func (s Set) References() []string {
	var references []string
	for _, image := range s.images(map[string]string{}) {
		references = append(references, image.Reference)
	}
	return references
}

// Image is one image of the set. What is missing is built.
func (s Set) Image(ctx context.Context, reference string, progress io.Writer) (image.Image, error) {
	programs := map[string]string{}
	for _, component := range s.components {
		dir, err := component.Ensure(ctx, progress)
		if err != nil {
			return image.Image{}, err
		}
		for _, program := range component.Programs {
			programs[program] = filepath.Join(dir, program)
		}
	}
	for _, image := range s.images(programs) {
		if image.Reference == reference {
			return image, missing(image)
		}
	}
	return image.Image{}, fmt.Errorf("the images %s do not hold %s", s.Name, reference)
}

// missing tells that a file of this machine, which no component builds, is not there.
func missing(image image.Image) error {
	for _, file := range image.Files {
		if file.Source == "" {
			continue
		}
		if _, err := os.Stat(file.Source); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is not there: apt-get install busybox-static ca-certificates", file.Source)
		}
	}
	return nil
}

// certManager has cert-manager's programs as one layer that its images share.
func certManager(programs map[string]string) []image.Image {
	var all []image.Image
	for _, part := range []string{"controller", "webhook", "cainjector", "startupapicheck", "acmesolver"} {
		all = append(all, image.Image{
			Reference:  "quay.io/jetstack/cert-manager-" + part + ":" + build.CertManagerVersion,
			Files:      []image.File{image.Program(programs["cert-manager"], "cert-manager"), image.Certificates()},
			Entrypoint: []string{"/usr/local/bin/cert-manager", part},
		})
	}
	return all
}

// localPath is the provisioner, and the shell with which its helper pods make and remove folders, as Debian builds it.
func localPath(programs map[string]string) []image.Image {
	const shell = "/bin/busybox"
	tools := []image.File{{Target: shell, Source: shell, Mode: 0o755}}
	for _, tool := range []string{"sh", "mkdir", "rm", "chmod", "sleep", "cat", "ls"} {
		tools = append(tools, image.File{Target: "/bin/" + tool, Link: shell})
	}
	return []image.Image{
		{
			Reference: "docker.io/rancher/local-path-provisioner:" + build.LocalPathVersion,
			Files:     []image.File{image.Program(programs["local-path-provisioner"], "local-path-provisioner"), image.Certificates()},
			Command:   []string{"local-path-provisioner"},
		},
		{Reference: "docker.io/library/busybox:1.37", User: "0", Files: tools, Command: []string{"sh"}},
	}
}
