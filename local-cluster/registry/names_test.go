package registry

import "testing"

func TestAnImageKeepsItsFullNameBelowTheMirror(t *testing.T) {
	for upstream, wanted := range map[string]string{
		"quay.io/jetstack/cert-manager-controller:v1.18.2": "10.201.0.1:5000/quay.io/jetstack/cert-manager-controller:v1.18.2",
		"traefik:v3.7.11":           "10.201.0.1:5000/docker.io/library/traefik:v3.7.11",
		"docker.io/traefik:v3.7.11": "10.201.0.1:5000/docker.io/library/traefik:v3.7.11",
		"grafana/grafana:13.0.1":    "10.201.0.1:5000/docker.io/grafana/grafana:13.0.1",
		"localhost:5001/thing:1":    "10.201.0.1:5000/localhost:5001/thing:1",
	} {
		name, err := MirroredImage(upstream)
		if err != nil || name.In(Address) != wanted {
			t.Errorf("%s becomes %s (%v), not %s", upstream, name.In(Address), err, wanted)
		}
	}
}

func TestAnImageThatNamesNoReleaseIsRefused(t *testing.T) {
	for _, upstream := range []string{"", "Traefik:1", "quay.io/a@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"} {
		if name, err := MirroredImage(upstream); err == nil {
			t.Errorf("%q becomes %s", upstream, name.In(Address))
		}
	}
}

func TestAChartOfEitherKindOfSourceHasOneNameInTheMirror(t *testing.T) {
	for _, test := range []struct{ upstream, chart, version, wanted string }{
		{"oci://ghcr.io/traefik/helm/traefik", "traefik", "41.3.0", "10.201.0.1:5000/ghcr.io/traefik/helm/traefik:41.3.0"},
		{"https://kubernetes-sigs.github.io/metrics-server/", "metrics-server", "3.13.0",
			"10.201.0.1:5000/kubernetes-sigs.github.io/metrics-server/metrics-server:3.13.0"},
		{"https://kubernetes.github.io/cloud-provider-aws", "aws-cloud-controller-manager", "0.0.11",
			"10.201.0.1:5000/kubernetes.github.io/cloud-provider-aws/aws-cloud-controller-manager:0.0.11"},
		{"oci://quay.io/charts/thing", "thing", "v1.2.3+build", "10.201.0.1:5000/quay.io/charts/thing:v1.2.3_build"},
	} {
		name, err := MirroredChart(test.upstream, test.chart, test.version)
		if err != nil || name.In(Address) != test.wanted {
			t.Errorf("%s becomes %s (%v), not %s", test.upstream, name.In(Address), err, test.wanted)
		}
	}
}

func TestAChartWithoutAUsableAddressIsRefused(t *testing.T) {
	for _, upstream := range []string{"", "ghcr.io/traefik/helm/traefik", "oci://ghcr.io/traefik/helm", "http://example.org/charts"} {
		if name, err := MirroredChart(upstream, "traefik", "1.0.0"); err == nil {
			t.Errorf("%q becomes %s", upstream, name.In(Address))
		}
	}
}
