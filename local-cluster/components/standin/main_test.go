package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func get(t *testing.T, handler http.Handler, path string) (int, string) {
	t.Helper()
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	body, err := io.ReadAll(answer.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Code, string(body)
}

func TestItAnswersProbesAndScrapes(t *testing.T) {
	standIn := handler(t.Context(), "traefik")
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, body := get(t, standIn, path); code != http.StatusOK || body != "ok\n" {
			t.Errorf("%s answers %d %q", path, code, body)
		}
	}
	if _, body := get(t, standIn, "/dashboard"); body != "traefik (stand-in)\n" {
		t.Errorf("another path answers %q", body)
	}
	if _, body := get(t, standIn, "/metrics"); !strings.Contains(body, `standin_requests_total{workload="traefik"} 1`) {
		t.Errorf("the request before is not counted in %q", body)
	}
}

func TestItIsNoLongerReadyOnceItIsToldToStop(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	standIn := handler(ctx, "traefik")
	stop()
	if code, _ := get(t, standIn, "/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz answers %d", code)
	}
	if code, _ := get(t, standIn, "/healthz"); code != http.StatusOK {
		t.Errorf("/healthz answers %d: a stopping pod must not be restarted", code)
	}
}

func TestItEndsWithoutAnErrorWhenItIsToldToStop(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, "127.0.0.1:0", "traefik") }()
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it is still there after five seconds")
	}
}

func TestItSaysWhatIsWrongWithItsAddress(t *testing.T) {
	if err := serve(t.Context(), "127.0.0.1:99999", "traefik"); err == nil {
		t.Error("a port that cannot be is accepted")
	}
}
