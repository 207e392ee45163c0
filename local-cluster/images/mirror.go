package images

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/image"
)

// LocalPathTag is the release of local-path-provisioner that KubeOpera's trees name. The module proxy serves an older one,
// build.LocalPathVersion, which is what the image holds.
const LocalPathTag = "v0.0.32"

// The sets that only the mirror serves: cert-manager, and the provisioner of volumes on a node's disk.
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
			return image, usable(image)
		}
	}
	return image.Image{}, fmt.Errorf("the images %s do not hold %s", s.Name, reference)
}

// usable tells what is wrong with the files of an image that no component builds: the image has no library they could load.
func usable(image image.Image) error {
	for _, file := range image.Files {
		if file.Source == "" || file.Mode != 0o755 {
			continue
		}
		program, err := elf.Open(file.Source)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is not there: apt-get install busybox-static", file.Source)
		}
		if err != nil {
			return fmt.Errorf("%s is no program: %w", file.Source, err)
		}
		defer program.Close()
		for _, segment := range program.Progs {
			if segment.Type == elf.PT_INTERP {
				return fmt.Errorf("%s needs libraries and cannot run in an image alone: apt-get install busybox-static", file.Source)
			}
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

// localPath is the provisioner, with the shell its helper pods make and remove folders with, as Debian builds it. They write to the
// node's disk, so they are root.
func localPath(programs map[string]string) []image.Image {
	const shell = "/bin/busybox"
	files := []image.File{
		image.Program(programs["local-path-provisioner"], "local-path-provisioner"), image.Certificates(),
		{Target: shell, Source: shell, Mode: 0o755},
	}
	for _, tool := range []string{"sh", "mkdir", "rm", "chmod"} {
		files = append(files, image.File{Target: "/bin/" + tool, Link: shell})
	}
	return []image.Image{{
		Reference: "docker.io/rancher/local-path-provisioner:" + LocalPathTag,
		User:      "0",
		Files:     files,
		Command:   []string{"local-path-provisioner"},
	}}
}
