package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

const batch = `{"prompt":"Read the total.","output_schema":{"type":"object"},"model":"any-model","items":[{"custom_id":"a","file_id":"file-invoice-1"}]}`

// The one call of a case: a read, or a create with a key or without one.
func call() error {
	kind := strings.Split(os.Getenv("WORKSPACE_CERTIFY_CASE"), "/")[0]
	method, path, body := http.MethodGet, "/data-views", ""
	switch kind {
	case "create-with-key":
		method, path, body = http.MethodPost, "/batch-predictions", batch
	case "create-without-key":
		method, path, body = http.MethodPost, "/pages", `{"name":"Roof plan"}`
	}
	timeout, _ := time.ParseDuration(os.Getenv("WORKSPACE_CERTIFY_TIMEOUT_MS") + "ms")
	client := retryablehttp.NewClient()
	client.RetryMax = 3
	client.Logger = nil
	client.HTTPClient.Timeout = timeout
	var content interface{}
	if body != "" {
		content = bytes.NewReader([]byte(body))
	}
	request, err := retryablehttp.NewRequest(method, os.Getenv("WORKSPACE_BASE_URL")+path, content)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("WORKSPACE_API_KEY"))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if kind == "create-with-key" {
		request.Header.Set("Idempotency-Key", "order-1")
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err = io.ReadAll(response.Body); err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}

func main() {
	if err := call(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
