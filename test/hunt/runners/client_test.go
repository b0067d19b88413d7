package client

import "testing"

func TestCreatesAPage(t *testing.T) {
	page, err := CreatePage("Roof plan")
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	if page.Name != "Roof plan" {
		t.Errorf("name: got %q, want %q", page.Name, "Roof plan")
	}
}

func TestListsAllUsers(t *testing.T) {
	users, err := ListUsers("teamspace-harbor")
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	if len(users) != 23 {
		t.Errorf("users: got %d, want 23", len(users))
	}
}
