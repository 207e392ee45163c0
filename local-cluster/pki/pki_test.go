package pki

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCertificatesAreTrustedAndNamedAsAsked(t *testing.T) {
	authority, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.Server("server", "kube-apiserver", nil, []string{"kubernetes"}, []string{"10.96.0.1"}); err != nil {
		t.Fatal(err)
	}
	if err := authority.Client("admin", "somebody", "system:masters"); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority.certificate)
	server, _, err := load(authority.dir, "server")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kubernetes", "10.96.0.1"} {
		if _, err := server.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
			t.Errorf("the server is not %s: %v", name, err)
		}
	}
	client, _, err := load(authority.dir, "admin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Error(err)
	}
	if client.Subject.CommonName != "somebody" || strings.Join(client.Subject.Organization, " ") != "system:masters" {
		t.Errorf("the client is %s", client.Subject)
	}
	if _, err := client.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err == nil {
		t.Error("a client's certificate is good for a server")
	}
}

func TestASecondCallChangesNothingAndAHalfIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	files := func() map[string]string {
		all := map[string]string{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all[entry.Name()] = string(content)
		}
		return all
	}
	ensure := func() {
		authority, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := authority.Kubeconfig(filepath.Join(dir, "kubeconfig"), "c", "https://10.0.0.1:6443", "admin", "somebody"); err != nil {
			t.Fatal(err)
		}
	}
	ensure()
	before := files()
	ensure()
	for name, content := range files() {
		if before[name] != content {
			t.Errorf("%s changed", name)
		}
	}
	// As after a kill between the key and the certificate.
	if err := os.Remove(filepath.Join(dir, "admin.crt")); err != nil {
		t.Fatal(err)
	}
	ensure()
	if _, _, err := load(dir, "admin"); err != nil {
		t.Error(err)
	}
	if files()["ca.crt"] != before["ca.crt"] {
		t.Error("the authority changed")
	}
}

func TestKeysAndKubeconfigsAreReadByTheOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	authority, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "kubeconfig")
	if err := authority.Kubeconfig(config, "c", "https://10.0.0.1:6443", "admin", "somebody"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{config, authority.File("ca.key"), authority.File("sa.key"), authority.File("admin.key")} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
}
