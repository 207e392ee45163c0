// Package kubeapi is the little that local-cluster itself asks of an API server.
package kubeapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Client speaks to one API server as its administrator.
type Client struct {
	server string
	http   *http.Client
}

// New makes a client from the files of a certificate authority and of a client certificate.
func New(server, authority, certificate, key string) (*Client, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	trusted, err := os.ReadFile(authority)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trusted)
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots},
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: 4,
		ForceAttemptHTTP2:   true,
	}
	return &Client{server, &http.Client{Transport: transport, Timeout: 20 * time.Second}}, nil
}

// Close ends the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Ready says whether the API server answers that it is ready.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return c.do(ctx, http.MethodGet, "/readyz", "", nil, nil)
}

// ErrNotFound is returned for an object that is not there.
var ErrNotFound = errors.New("not found")

// Get reads an object.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, path, "", nil, into)
}

// Patch changes an object by a merge patch in JSON.
func (c *Client) Patch(ctx context.Context, path, patch string) error {
	return c.do(ctx, http.MethodPatch, path, "application/merge-patch+json", []byte(patch), nil)
}

func (c *Client) do(ctx context.Context, method, path, contentType string, body []byte, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("the API server at %s does not answer: %w", c.server, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return err
	}
	if response.StatusCode == http.StatusNotFound {
		return fmt.Errorf("%s: %w", path, ErrNotFound)
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("the API server refused %s %s: %s: %s", method, path, response.Status, message(answer))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// message is the sentence in a Kubernetes Status, or the answer itself.
func message(answer []byte) string {
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &status) == nil && status.Message != "" {
		return status.Message
	}
	return strings.TrimSpace(string(answer[:min(len(answer), 500)]))
}
