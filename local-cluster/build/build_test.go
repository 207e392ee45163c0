package build

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// example is a component in a source folder of its own: one program that prints its version.
func example(t *testing.T) Component {
	t.Helper()
	source := t.TempDir()
	t.Setenv("KUBEOPERA_LOCAL_CLUSTER_SOURCE", source)
	t.Setenv("KUBEOPERA_CACHE", t.TempDir())
	write(t, filepath.Join(source, "components", "example", "go.mod"), "module example.org/example\n\ngo 1.26.0\n")
	write(t, filepath.Join(source, "components", "example", "main.go"), "package main\n\nvar version string\n\nfunc main() { println(version) }\n")
	return Component{Name: "example", Packages: []string{"."}, Programs: []string{"example"}, Versions: []string{"main.version=v1"}}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAComponentIsBuiltOnceUntilItsSourcesChange(t *testing.T) {
	component := example(t)
	var first, second, third bytes.Buffer
	dir, err := component.Ensure(t.Context(), &first)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "example")); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("there is no program: %v", err)
	}
	if !strings.Contains(first.String(), "building example") {
		t.Errorf("the first build says %q", first.String())
	}
	again, err := component.Ensure(t.Context(), &second)
	if err != nil || again != dir || second.Len() > 0 {
		t.Errorf("the second build says %q and gives %s: %v", second.String(), again, err)
	}
	source, err := component.Dir()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(source, "more.go"), "package main\n")
	changed, err := component.Ensure(t.Context(), &third)
	if err != nil || changed == dir || third.Len() == 0 {
		t.Errorf("after a change it says %q and gives %s: %v", third.String(), changed, err)
	}
}

func TestAnotherVersionIsAnotherBuild(t *testing.T) {
	component := example(t)
	before, err := component.Key()
	if err != nil {
		t.Fatal(err)
	}
	component.Versions = []string{"main.version=v2"}
	if after, err := component.Key(); err != nil || after == before {
		t.Errorf("the keys are %s and %s: %v", before, after, err)
	}
}

func TestABuildThatFailsSaysWhatTheCompilerSays(t *testing.T) {
	component := example(t)
	source, err := component.Dir()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(source, "broken.go"), "package main\n\nfunc broken() { undefinedName() }\n")
	_, err = component.Ensure(t.Context(), &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "building example failed") || !strings.Contains(err.Error(), "undefinedName") {
		t.Errorf("the error is %v", err)
	}
}

func TestMissingSourcesAreExplained(t *testing.T) {
	component := example(t)
	t.Setenv("KUBEOPERA_LOCAL_CLUSTER_SOURCE", "/does/not/exist")
	if _, err := component.Key(); err == nil || !strings.Contains(err.Error(), "KUBEOPERA_LOCAL_CLUSTER_SOURCE") {
		t.Errorf("the error is %v", err)
	}
}

func TestProgressCountsWhatGoPrints(t *testing.T) {
	p := &progress{name: "x", done: make(chan struct{})}
	if _, err := p.Write([]byte("go: downloading a v1\ngo: downloading b v2\n")); err != nil {
		t.Fatal(err)
	}
	if line := p.line(); !strings.Contains(line, "2 modules downloaded") {
		t.Errorf("it says %q", line)
	}
	p.total(10)
	if _, err := p.Write([]byte("fmt\nk8s.io/api\nmain\n")); err != nil {
		t.Fatal(err)
	}
	if line := p.line(); !strings.Contains(line, "3 of at most 10 packages") {
		t.Errorf("it says %q", line)
	}
}
