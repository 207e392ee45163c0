package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// The registry that clusters reach only reads: a pod that could write would replace images and charts of all clusters. What is put into it
// goes through a second process on the same content, which listens on a socket in the registry's folder and so for its owner alone, and
// runs no longer than the writing takes.

func (r Registry) socket() string        { return filepath.Join(r.Dir, "write.sock") }
func (r Registry) writerLog() string     { return filepath.Join(r.Dir, "write.log") }
func (r Registry) writerConfig() string  { return filepath.Join(r.Dir, "write.yml") }
func (r Registry) writerContent() []byte { return r.content("unix", r.socket(), false) }

// writing runs the second process while write uses the client, which reaches it whatever address is asked for.
func (r Registry) writing(ctx context.Context, write func(*http.Client) error) error {
	unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	binary, err := find()
	if err != nil {
		return err
	}
	if err := os.Remove(r.socket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(r.writerConfig(), r.writerContent(), 0o644); err != nil {
		return err
	}
	log, err := os.Create(r.writerLog())
	if err != nil {
		return err
	}
	defer log.Close()
	command := serve(binary, r.writerConfig())
	command.Dir, command.Stdout, command.Stderr = r.Dir, log, log
	// It ends with this process, also when that is killed. The signal is sent when the thread that started it ends.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ended, err := run(command)
	if err != nil {
		return err
	}
	defer finish(command, ended)
	client := clientOf(func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", r.socket())
	})
	if err := r.await(ctx, client, ended, r.writerLog()); err != nil {
		return err
	}
	return write(client)
}

// finish ends a registry that was started here, with force when it does not go within five seconds.
func finish(command *exec.Cmd, ended <-chan struct{}) {
	_ = command.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = command.Process.Kill()
		<-ended
	}
}

// find is the path of the registry's program.
func find() (string, error) {
	binary, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: apt-get install %s", program, program)
	}
	return binary, nil
}

func serve(binary, configuration string) *exec.Cmd {
	command := exec.Command(binary, "serve", configuration)
	// Signs the state of uploads under way. It protects nothing here, where only the machine's owner uploads; without it each start warns.
	command.Env = append(os.Environ(), "REGISTRY_HTTP_SECRET=local-cluster")
	return command
}

// run starts the command; the channel closes when it has ended.
func run(command *exec.Cmd) (<-chan struct{}, error) {
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("%s cannot be started: %w", program, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	return ended, nil
}

// await returns when the registry answers the client, or why it does not.
func (r Registry) await(ctx context.Context, client *http.Client, ended <-chan struct{}, log string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := r.answers(ctx, client)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return r.whyEnded(log)
		case <-ctx.Done():
			return fmt.Errorf("the registry does not answer on %s after %s: %w; its log is %s", r.Address, patience, err, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (r Registry) whyEnded(log string) error {
	content, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	if bytes.Contains(content, []byte("address already in use")) {
		_, port, _ := net.SplitHostPort(r.Address)
		return fmt.Errorf("another program listens on port %s, which the registry needs at %s: stop it (ss -ltnp 'sport = :%s' names it; "+
			"for Debian's own service: systemctl disable --now %s)", port, r.Address, port, program)
	}
	first, _, _ := bytes.Cut(bytes.TrimSpace(content), []byte("\n"))
	return fmt.Errorf("the registry ended at once: %s; its log is %s", first, log)
}
