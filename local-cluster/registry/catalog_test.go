package registry

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func everything(t *testing.T) []Entry {
	t.Helper()
	entries, err := Catalog()
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestNothingIsListedTwice(t *testing.T) {
	seen := map[Name]bool{}
	for _, entry := range everything(t) {
		if seen[entry.Name] {
			t.Errorf("%s is listed twice", entry.Name.In(Address))
		}
		seen[entry.Name] = true
	}
}

func TestWhatGoModulesHoldIsServedAsTheRealThing(t *testing.T) {
	kinds := map[string]Kind{}
	for _, entry := range everything(t) {
		kinds[entry.Upstream] = entry.Kind
	}
	for upstream, wanted := range map[string]Kind{
		"quay.io/jetstack/cert-manager-webhook:v1.18.2":                          RealImage,
		"oci://quay.io/jetstack/charts/cert-manager:v1.18.2":                     RealChart,
		"registry.k8s.io/metrics-server/metrics-server:v0.8.0":                   RealImage,
		"https://kubernetes-sigs.github.io/metrics-server/metrics-server:3.13.0": RealChart,
		"ghcr.io/fluxcd/source-controller:v1.9.4":                                RealImage,
		"oci://ghcr.io/traefik/helm/traefik:41.3.0":                              StandInChart,
		"docker.io/traefik:v3.7.11":                                              StandInImage,
	} {
		if kinds[upstream] != wanted {
			t.Errorf("%s is %q, not %q", upstream, kinds[upstream], wanted)
		}
	}
}

func TestTheChartOfCertManagerIsCompletedAsItsReleaseDoesIt(t *testing.T) {
	all := realCharts()
	at := slices.IndexFunc(all, func(packed realChart) bool { return packed.name() == "cert-manager" })
	assembled, err := all[at].chart(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	described, err := assembled.metadata()
	if err != nil || described.Name != "cert-manager" || described.Version != "v1.18.2" || described.AppVersion != "v1.18.2" {
		t.Errorf("its metadata is %+v (%v)", described, err)
	}
	for _, definition := range []string{"certificates", "issuers", "clusterissuers", "certificaterequests", "orders", "challenges"} {
		if !strings.Contains(string(assembled["templates/crds.yaml"]), "name: "+definition+".") {
			t.Errorf("the CRD %s is missing", definition)
		}
	}
	if strings.Contains(string(assembled["Chart.yaml"]), "v0.0.0") {
		t.Error("the placeholder of the version is still there")
	}
}

// The trees that the scaffolder's tests keep are what the mirror must be able to serve. Each is read for its charts, in the exact
// version, and for the images its releases, pods and resources would run.
func TestTheMirrorServesEverythingAGeneratedTreeNames(t *testing.T) {
	cases := filepath.Join("..", "..", "services", "gitops-scaffolder", "tree", "tests", "cases")
	trees, err := filepath.Glob(filepath.Join(cases, "*", "tree"))
	if err != nil {
		t.Fatal(err)
	}
	if len(trees) < 3 {
		t.Fatalf("below %s there are only the trees %v", cases, trees)
	}
	served := map[Name]bool{}
	for _, entry := range everything(t) {
		served[entry.Name] = true
	}
	standIns := standIns(t)
	for _, tree := range trees {
		named, err := read(tree)
		if err != nil {
			t.Fatal(err)
		}
		if len(named.releases) == 0 {
			t.Errorf("%s has no release", tree)
		}
		for _, release := range named.releases {
			if !served[release.chart] {
				t.Errorf("%s: the mirror has no chart %s", tree, release.chart.In(Address))
				continue
			}
			files, isStandIn := standIns[filepath.Base(release.chart.Path)]
			if !isStandIn {
				continue
			}
			references, err := files.images(release.values)
			if err != nil {
				t.Fatal(err)
			}
			named.images = append(named.images, references...)
		}
		for _, reference := range named.images {
			name, err := MirroredImage(strings.TrimPrefix(reference, Address+"/"))
			if err != nil || !served[name] {
				t.Errorf("%s: the mirror has no image %s (%v)", tree, reference, err)
			}
		}
		for _, name := range named.rewritten {
			if !slices.ContainsFunc(everything(t), func(entry Entry) bool { return entry.Name.Path == name }) {
				t.Errorf("%s: the mirror has no image of the name %s", tree, name)
			}
		}
	}
}

// standIns are the stand-in charts by their names. What a real chart runs is told by the names its release rewrites.
func standIns(t *testing.T) map[string]chart {
	t.Helper()
	all, err := standInCharts()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]chart{}
	for _, one := range all {
		named[one.name] = one.files
	}
	return named
}

// contents is what a tree asks of a registry.
type contents struct {
	releases []release
	// images have a tag, rewritten are names in the mirror without one.
	images, rewritten []string
}

type release struct {
	chart  Name
	values map[string]any
}

// resource has the fields of Flux's resources that say what comes from where.
type resource struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		URL   string
		Ref   struct{ Tag string }
		Chart struct {
			Spec struct{ Chart, Version string }
		}
		Values        map[string]any
		PostRenderers []struct {
			Kustomize struct {
				Images []struct{ NewName string }
			}
		}
	}
}

func read(tree string) (contents, error) {
	var found contents
	sources, helm := map[string]resource{}, []resource{}
	err := filepath.WalkDir(tree, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for document := range strings.SplitSeq(string(file), "\n---\n") {
			var one resource
			var all any
			if err := yaml.Unmarshal([]byte(document), &all); err != nil {
				return err
			}
			found.images = append(found.images, imageFields(all)...)
			if err := yaml.Unmarshal([]byte(document), &one); err != nil {
				return err
			}
			switch one.Kind {
			case "OCIRepository", "HelmRepository":
				sources[one.Metadata.Name] = one
			case "HelmRelease":
				helm = append(helm, one)
			}
		}
		return nil
	})
	if err != nil {
		return contents{}, err
	}
	for _, one := range helm {
		source := sources[one.Metadata.Name]
		version := source.Spec.Ref.Tag
		if version == "" {
			version = one.Spec.Chart.Spec.Version
		}
		chart, err := MirroredChart(strings.Replace(source.Spec.URL, Address+"/", "", 1), one.Metadata.Name, version)
		if err != nil {
			return contents{}, err
		}
		found.releases = append(found.releases, release{chart, one.Spec.Values})
		for _, renderer := range one.Spec.PostRenderers {
			for _, image := range renderer.Kustomize.Images {
				found.rewritten = append(found.rewritten, strings.TrimPrefix(image.NewName, Address+"/"))
			}
		}
	}
	return found, nil
}

// imageFields are the texts in fields called image or imageName, also in the JSON that a ConfigMap holds.
func imageFields(value any) []string {
	var found []string
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			text, isText := inner.(string)
			switch {
			case isText && (key == "image" || key == "imageName"):
				found = append(found, text)
			case isText && strings.HasPrefix(text, "{"):
				var object any
				if json.Unmarshal([]byte(text), &object) == nil {
					found = append(found, imageFields(object)...)
				}
			default:
				found = append(found, imageFields(inner)...)
			}
		}
	case []any:
		for _, inner := range value {
			found = append(found, imageFields(inner)...)
		}
	}
	return found
}
