// Package client has a careful client. Retry-After is read only in seconds.
package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"time"
)

const (
	retries = 2
	maxWait = 5
)

var httpClient = &http.Client{Timeout: 2 * time.Second}

func waitBefore(attempt int, stated string) error {
	wait, err := strconv.ParseUint(stated, 10, 63)
	if err != nil {
		wait = 1 << attempt
	}
	if wait > maxWait {
		return fmt.Errorf("the service asks for a wait of %d s", wait)
	}
	time.Sleep(time.Duration(wait)*time.Second + time.Duration(100+rand.Intn(200))*time.Millisecond)
	return nil
}

func send(method, path string, body []byte) (*http.Response, []byte, error) {
	request, err := http.NewRequest(method, os.Getenv("WORKSPACE_BASE_URL")+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("WORKSPACE_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := httpClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, text, err
}

func call(method, path string, body []byte, value any) error {
	for attempt := 0; ; attempt++ {
		response, text, err := send(method, path, body)
		mayRepeat, stated := method == "GET", ""
		if err == nil && response.StatusCode < 300 {
			if err := json.Unmarshal(text, value); err != nil {
				return fmt.Errorf("%s %s: not JSON: %w", method, path, err)
			}
			return nil
		}
		if err == nil {
			stated = response.Header.Get("Retry-After")
			status := response.StatusCode
			isRefused := (status == 429 || status == 503) && stated != ""
			mayRepeat = isRefused || (method == "GET" && (status == 429 || status >= 500))
			err = fmt.Errorf("status %d", status)
		}
		if !mayRepeat || attempt == retries {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		if err := waitBefore(attempt, stated); err != nil {
			return err
		}
	}
}

// Page is a page of the workspace.
type Page struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// CreatePage creates a page.
func CreatePage(name string) (Page, error) {
	body, _ := json.Marshal(map[string]string{"name": name})
	var page Page
	err := call("POST", "/pages", body, &page)
	if err == nil && page.ID == "" {
		err = fmt.Errorf("a page without an id")
	}
	return page, err
}

// User is a member of a teamspace.
type User struct {
	ID string `json:"id"`
}

// ListUsers returns all users of a teamspace.
func ListUsers(teamspace string) ([]User, error) {
	var users []User
	seen := map[string]bool{}
	for after := ""; ; {
		var page struct {
			Data    *[]User `json:"data"`
			HasMore *bool   `json:"has_more"`
		}
		if err := call("GET", "/organization/teamspaces/"+teamspace+"/users?limit=10"+after, nil, &page); err != nil {
			return nil, err
		}
		if page.Data == nil || page.HasMore == nil {
			return nil, fmt.Errorf("not a page of users")
		}
		rows := *page.Data
		users = append(users, rows...)
		if !*page.HasMore {
			return users, nil
		}
		if len(rows) == 0 || seen[rows[len(rows)-1].ID] {
			return nil, fmt.Errorf("the list does not advance")
		}
		for _, row := range rows {
			seen[row.ID] = true
		}
		after = "&after=" + rows[len(rows)-1].ID
	}
}
