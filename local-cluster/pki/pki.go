// Package pki makes the certificates and kubeconfigs of a cluster. Each file is made once and kept: a second call changes nothing.
package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"text/template"
	"time"
)

// lifetime of every certificate: longer than any cluster on one machine is kept.
const lifetime = 10 * 365 * 24 * time.Hour

// Authority is a cluster's certificate authority, with everything signed by it in one folder.
type Authority struct {
	dir         string
	certificate *x509.Certificate
	key         crypto.Signer
}

// Open makes sure that the folder has a certificate authority, and a key pair with which service account tokens are signed.
func Open(dir string) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	a := &Authority{dir: dir}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "local-cluster"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if err := a.ensure("ca", template); err != nil {
		return nil, err
	}
	var err error
	if a.certificate, a.key, err = load(dir, "ca"); err != nil {
		return nil, err
	}
	return a, a.ensureServiceAccountKey()
}

// File is the path of a file of the authority: "ca.crt", "apiserver.key", "sa.pub".
func (a *Authority) File(name string) string { return filepath.Join(a.dir, name) }

// Server makes sure of a certificate for a server under these names and addresses, which is also good as a client's with this common name.
func (a *Authority) Server(file, commonName string, groups []string, names []string, addresses []string) error {
	certificate := &x509.Certificate{
		Subject:     pkix.Name{CommonName: commonName, Organization: groups},
		DNSNames:    names,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		KeyUsage:    x509.KeyUsageDigitalSignature,
	}
	for _, address := range addresses {
		certificate.IPAddresses = append(certificate.IPAddresses, net.ParseIP(address))
	}
	return a.ensure(file, certificate)
}

// Client makes sure of a certificate with which the user, in these groups, is known to the API server.
func (a *Authority) Client(file, user string, groups ...string) error {
	return a.ensure(file, &x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		KeyUsage:    x509.KeyUsageDigitalSignature,
	})
}

// Kubeconfig makes sure of a client certificate and of a kubeconfig with it at path, for the server ("https://10.201.1.10:6443").
func (a *Authority) Kubeconfig(path, cluster, server, file, user string, groups ...string) error {
	if err := a.Client(file, user, groups...); err != nil {
		return err
	}
	values := map[string]string{"Cluster": cluster, "Server": server, "User": user}
	for key, name := range map[string]string{"CA": "ca.crt", "Certificate": file + ".crt", "Key": file + ".key"} {
		content, err := os.ReadFile(a.File(name))
		if err != nil {
			return err
		}
		values[key] = base64.StdEncoding.EncodeToString(content)
	}
	var text bytes.Buffer
	if err := kubeconfig.Execute(&text, values); err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text.Bytes()) {
		return nil
	}
	return Replace(path, text.Bytes(), 0o600)
}

var kubeconfig = template.Must(template.New("kubeconfig").Parse(`apiVersion: v1
kind: Config
clusters:
- name: {{.Cluster}}
  cluster:
    server: {{.Server}}
    certificate-authority-data: {{.CA}}
users:
- name: {{.User}}
  user:
    client-certificate-data: {{.Certificate}}
    client-key-data: {{.Key}}
contexts:
- name: {{.Cluster}}
  context:
    cluster: {{.Cluster}}
    user: {{.User}}
current-context: {{.Cluster}}
`))

// ensure makes a key and a certificate, signed by the authority (or by itself, for the authority's own), unless both are there.
func (a *Authority) ensure(file string, certificate *x509.Certificate) error {
	if _, _, err := load(a.dir, file); err == nil {
		return nil
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	certificate.SerialNumber = serial
	certificate.NotBefore = time.Now().Add(-time.Hour)
	certificate.NotAfter = certificate.NotBefore.Add(lifetime)
	parent, signer := a.certificate, a.key
	if parent == nil {
		parent, signer = certificate, key
	}
	signed, err := x509.CreateCertificate(rand.Reader, certificate, parent, key.Public(), signer)
	if err != nil {
		return fmt.Errorf("the certificate %s cannot be made: %w", file, err)
	}
	if err := writeKey(a.File(file+".key"), key); err != nil {
		return err
	}
	return Replace(a.File(file+".crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o644)
}

func (a *Authority) ensureServiceAccountKey() error {
	if _, err := os.Stat(a.File("sa.pub")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	if err := writeKey(a.File("sa.key"), key); err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	// The public half is written last: when it is there, so is the other.
	return Replace(a.File("sa.pub"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o644)
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func writeKey(path string, key *ecdsa.PrivateKey) error {
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return Replace(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}), 0o600)
}

// load reads a certificate and its key, and fails when they do not belong together.
func load(dir, file string) (*x509.Certificate, crypto.Signer, error) {
	certificatePEM, err := os.ReadFile(filepath.Join(dir, file+".crt"))
	if err != nil {
		return nil, nil, err
	}
	keyPEM, err := os.ReadFile(filepath.Join(dir, file+".key"))
	if err != nil {
		return nil, nil, err
	}
	certificateBlock, _ := pem.Decode(certificatePEM)
	keyBlock, _ := pem.Decode(keyPEM)
	if certificateBlock == nil || keyBlock == nil {
		return nil, nil, fmt.Errorf("%s in %s is not PEM", file, dir)
	}
	certificate, err := x509.ParseCertificate(certificateBlock.Bytes)
	if err != nil {
		return nil, nil, err
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, nil, err
	}
	if !key.PublicKey.Equal(certificate.PublicKey) {
		return nil, nil, fmt.Errorf("the key %s in %s is not the certificate's", file, dir)
	}
	return certificate, key, nil
}

// Replace writes a file whole or not at all.
func Replace(path string, content []byte, mode os.FileMode) error {
	unfinished := path + ".unfinished"
	if err := os.WriteFile(unfinished, content, mode); err != nil {
		return err
	}
	if err := os.Chmod(unfinished, mode); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}
