"""A careful client for Python's urllib. Every failure of a call is a ClientError; Retry-After is read only in seconds."""
import http.client
import json
import os
import random
import time
import urllib.error
import urllib.request

BASE = os.environ["WORKSPACE_BASE_URL"]
KEY = os.environ["WORKSPACE_API_KEY"]
RETRIES = 2
MAX_WAIT = 5


class ClientError(Exception):
    pass


def wait_before(attempt, stated):
    wait = int(stated) if stated is not None and stated.isascii() and stated.isdigit() else 2**attempt
    if wait > MAX_WAIT:
        raise ClientError(f"the service asks for a wait of {wait} s")
    time.sleep(wait + random.uniform(0.1, 0.3))


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    for attempt in range(RETRIES + 1):
        request = urllib.request.Request(BASE + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=2) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            is_refused = error.code in (429, 503) and error.headers["Retry-After"] is not None
            may_repeat = is_refused or (method == "GET" and (error.code == 429 or error.code >= 500))
            if not may_repeat or attempt == RETRIES:
                raise ClientError(f"{method} {path}: status {error.code}") from error
            wait_before(attempt, error.headers["Retry-After"])
        except (OSError, http.client.HTTPException) as error:
            if method != "GET" or attempt == RETRIES:
                raise ClientError(f"{method} {path}: no whole response") from error
            wait_before(attempt, None)
        else:
            try:
                value = json.loads(text)
            except ValueError as error:
                raise ClientError(f"{method} {path}: not JSON") from error
            if not isinstance(value, dict):
                raise ClientError(f"{method} {path}: not an object")
            return value


def create_page(name):
    page = call("POST", "/pages", {"name": name})
    if not isinstance(page.get("id"), str):
        raise ClientError("a page without an id")
    return page


def list_users(teamspace_id):
    users, after, seen = [], "", set()
    while True:
        page = call("GET", f"/organization/teamspaces/{teamspace_id}/users?limit=10{after}")
        rows = page.get("data")
        if not isinstance(rows, list) or not isinstance(page.get("has_more"), bool):
            raise ClientError("not a page of users")
        users += rows
        if not page["has_more"]:
            return users
        if not rows or rows[-1]["id"] in seen:
            raise ClientError("the list does not advance")
        seen.update(row["id"] for row in rows)
        after = f"&after={rows[-1]['id']}"
