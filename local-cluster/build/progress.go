package build

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// every is how often a long build says how far it is.
const every = 5 * time.Second

// progress counts the package names that `go build -v` prints and says now and then how many there were. Packages that are in Go's
// own cache are not printed by it, so the count may end below the total.
type progress struct {
	out     io.Writer
	name    string
	started time.Time
	done    chan struct{}

	mu      sync.Mutex
	built   int
	fetched int
	all     int
}

func newProgress(out io.Writer, name string) *progress {
	p := &progress{out: out, name: name, started: time.Now(), done: make(chan struct{})}
	fmt.Fprintf(out, "building %s (once; a cold build takes some minutes)\n", name)
	go p.tell()
	return p
}

func (p *progress) total(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = n
}

// Write takes what `go build -v` prints: one package a line, and a line for each module it downloads.
func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n")) {
		if bytes.HasPrefix(line, []byte("go: downloading ")) {
			p.fetched++
		} else if len(line) > 0 {
			p.built++
		}
	}
	return len(text), nil
}

func (p *progress) tell() {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
			fmt.Fprintln(p.out, p.line())
		}
	}
}

func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	elapsed := time.Since(p.started).Round(time.Second)
	switch {
	case p.built == 0 && p.fetched > 0:
		return fmt.Sprintf("  %s: %d modules downloaded, %s", p.name, p.fetched, elapsed)
	case p.built == 0:
		return fmt.Sprintf("  %s: nothing to compile so far (linking, or still reading), %s", p.name, elapsed)
	case p.all > 0:
		return fmt.Sprintf("  %s: %d of at most %d packages compiled, %s", p.name, p.built, p.all, elapsed)
	default:
		return fmt.Sprintf("  %s: %d packages compiled, %s", p.name, p.built, elapsed)
	}
}

func (p *progress) finish() {
	close(p.done)
	fmt.Fprintf(p.out, "  %s: done in %s\n", p.name, time.Since(p.started).Round(100*time.Millisecond))
}
