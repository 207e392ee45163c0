package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"
)

func TestTheSolverAnswersItsChallengeUntilItIsStopped(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- acmeSolver(ctx, []string{"--listen-port=" + strconv.Itoa(port), "--domain=app.example.com", "--token=the-token", "--key=the-key"})
	}()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+strconv.Itoa(port)+"/.well-known/acme-challenge/the-token", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "app.example.com"
	var answer string
	for deadline := time.Now().Add(5 * time.Second); answer == "" && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			continue
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		answer = string(body)
	}
	if answer != "the-key" {
		t.Errorf("it answers %q", answer)
	}
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it does not end")
	}
}
