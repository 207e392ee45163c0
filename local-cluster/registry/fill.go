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

// client talks to a registry on this machine.
var client = clientOf((&net.Dialer{Timeout: 2 * time.Second}).DialContext)

// clientOf connects by dial. The limit is for one whole upload of a large layer on a busy disk.
func clientOf(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Client {
	return &http.Client{
		Timeout:       2 * time.Minute,
		Transport:     &http.Transport{DialContext: dial, ResponseHeaderTimeout: time.Minute, Proxy: nil},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Filled counts what a fill did.
type Filled struct{ Added, Unchanged int }

// Fill puts the entries into the registry and tells on progress what it adds. An entry whose content the registry already has under
// that name, by its digest, is left alone; so a second fill uploads nothing.
func (r Registry) Fill(ctx context.Context, entries []Entry, progress io.Writer) (Filled, error) {
	var missing []missingEntry
	for _, entry := range entries {
		built, err := entry.build(ctx, progress)
		if err != nil {
			return Filled{}, fmt.Errorf("%s cannot be made: %w", entry.Upstream, err)
		}
		there, err := r.digest(ctx, entry.Name)
		if err != nil {
			return Filled{}, fmt.Errorf("the registry does not tell whether it has %s: %w", entry.Name.In(r.Address), err)
		}
		if there != descriptor(built.Manifest).Digest {
			missing = append(missing, missingEntry{entry, built})
		}
	}
	filled := Filled{Unchanged: len(entries) - len(missing)}
	if missing == nil {
		return filled, nil
	}
	return filled, r.writing(ctx, func(client *http.Client) error {
		for _, entry := range missing {
			if err := r.put(ctx, client, entry.Name, entry.built); err != nil {
				return fmt.Errorf("%s cannot be put into the registry: %w", entry.Name.In(r.Address), r.explain(err))
			}
			filled.Added++
			fmt.Fprintf(progress, "  %s (%s)\n", entry.Name.In(r.Address), entry.Kind)
		}
		return nil
	})
}

// missingEntry is one that the registry does not have, or not with this content.
type missingEntry struct {
	Entry
	built image.Built
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
	there, err := r.digest(ctx, name)
	return there != "", err
}

// digest is that of the manifest under the name, "" when there is none.
func (r Registry) digest(ctx context.Context, name Name) (digest.Digest, error) {
	repository, err := r.repository(client, name)
	if err != nil {
		return "", err
	}
	present, err := repository.Resolve(ctx, name.Tag)
	if errors.Is(err, errdef.ErrNotFound) {
		return "", nil
	}
	return present.Digest, err
}

func (r Registry) put(ctx context.Context, client *http.Client, name Name, built image.Built) error {
	repository, err := r.repository(client, name)
	if err != nil {
		return err
	}
	for _, part := range []image.Blob{built.Layer, built.Config} {
		exists, err := repository.Blobs().Exists(ctx, descriptor(part))
		if err == nil && !exists {
			err = push(part, func(content io.Reader) error { return repository.Blobs().Push(ctx, descriptor(part), content) })
		}
		if err != nil {
			return err
		}
	}
	return push(built.Manifest, func(content io.Reader) error {
		return repository.Manifests().PushReference(ctx, descriptor(built.Manifest), content, name.Tag)
	})
}

func (r Registry) repository(client *http.Client, name Name) (*remote.Repository, error) {
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
