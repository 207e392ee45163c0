// Command reporter runs in a pod and tells the machine that runs the cluster, again and again, what the pod reaches.
package main

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

func main() {
	client := &http.Client{Timeout: 2 * time.Second}
	for range time.Tick(200 * time.Millisecond) {
		addresses, err := net.LookupHost("kubernetes.default.svc.cluster.local")
		resolved := strings.Join(addresses, ",")
		if err != nil {
			resolved = err.Error()
		}
		values := url.Values{"cluster": {os.Getenv("CLUSTER")}, "resolved": {resolved}}
		if response, err := client.Get(os.Getenv("HOST") + "/?" + values.Encode()); err == nil {
			_ = response.Body.Close()
		}
	}
}
