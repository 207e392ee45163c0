package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"kubeopera.io/local-cluster/image"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
)

// client talks to a registry on this machine. The limit is for one whole upload of a large layer on a busy disk.
var client = &http.Client{
	Timeout: 2 * time.Minute,
	Transport: &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		ResponseHeaderTimeout: time.Minute,
		Proxy:                 nil,
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Filled counts what a fill did.
type Filled struct{ Added, Unchanged int }

// Fill puts the entries into the registry and tells on progress what it adds. An entry whose content the registry already has under
// that name, by its digest, is left alone; so a second fill uploads nothing.
func (r Registry) Fill(ctx context.Context, entries []Entry, progress io.Writer) (Filled, error) {
	var filled Filled
	for _, entry := range entries {
		built, err := entry.build(ctx, progress)
		if err != nil {
			return filled, fmt.Errorf("%s cannot be made: %w", entry.Upstream, err)
		}
		added, err := r.put(ctx, entry.Name, built)
		if err != nil {
			return filled, fmt.Errorf("%s cannot be put into the registry: %w", entry.Name.In(r.Address), r.explain(err))
		}
		if !added {
			filled.Unchanged++
			continue
		}
		filled.Added++
		fmt.Fprintf(progress, "  %s (%s)\n", entry.Name.In(r.Address), entry.Kind)
	}
	return filled, nil
}

// explain says what to do about a full disk, of which a registry only tells its log.
func (r Registry) explain(err error) error {
	var disk syscall.Statfs_t
	const enough = 64 << 20
	if syscall.Statfs(r.Dir, &disk) == nil && disk.Bavail*uint64(disk.Bsize) < enough {
		return fmt.Errorf("the disk is full at %s (%w): free some space, or set KUBEOPERA_REGISTRY_STATE to a folder on another disk", r.Dir, err)
	}
	return err
}

// Has tells whether the registry has something under the name.
func (r Registry) Has(ctx context.Context, name Name) (bool, error) {
	repository, err := r.repository(name)
	if err != nil {
		return false, err
	}
	_, err = repository.Resolve(ctx, name.Tag)
	if errors.Is(err, errdef.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (r Registry) put(ctx context.Context, name Name, built image.Built) (added bool, err error) {
	repository, err := r.repository(name)
	if err != nil {
		return false, err
	}
	manifest := descriptor(built.Manifest)
	present, err := repository.Resolve(ctx, name.Tag)
	switch {
	case err == nil && present.Digest == manifest.Digest:
		return false, nil
	case err != nil && !errors.Is(err, errdef.ErrNotFound):
		return false, err
	}
	for _, part := range []image.Blob{built.Layer, built.Config} {
		exists, err := repository.Blobs().Exists(ctx, descriptor(part))
		if err == nil && !exists {
			err = push(part, func(content io.Reader) error { return repository.Blobs().Push(ctx, descriptor(part), content) })
		}
		if err != nil {
			return false, err
		}
	}
	return true, push(built.Manifest, func(content io.Reader) error {
		return repository.Manifests().PushReference(ctx, manifest, content, name.Tag)
	})
}

func (r Registry) repository(name Name) (*remote.Repository, error) {
	repository, err := remote.NewRepository(r.Address + "/" + name.Path)
	if err != nil {
		return nil, err
	}
	repository.PlainHTTP = true
	repository.Client = client
	return repository, nil
}

func descriptor(of image.Blob) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: of.MediaType, Digest: digest.Digest(of.Digest), Size: of.Size}
}

// push streams a blob that is written, not read.
func push(content image.Blob, upload func(io.Reader) error) error {
	reader, writer := io.Pipe()
	go func() {
		_, err := content.WriteTo(writer)
		writer.CloseWithError(err)
	}()
	err := upload(reader)
	reader.CloseWithError(errors.New("the upload is over"))
	return err
}
