"""An adapter for Python's urllib, used as its documentation shows: no retries, and a time-out for each socket operation."""
import http.client
import json
import os
import sys
import time
import urllib.request
from urllib.error import HTTPError

BASE = os.environ["WORKSPACE_BASE_URL"]
KEY = os.environ["WORKSPACE_API_KEY"]
KINDS = {403: "forbidden", 404: "not_found", 409: "conflict", 410: "gone", 429: "rate_limited"}


def read(path, timeout_ms, body=None, headers=None):
    always = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    request = urllib.request.Request(BASE + path, data=body, headers={**always, **(headers or {})})
    with urllib.request.urlopen(request, timeout=timeout_ms / 1000) as response:
        return response.read()


def get(batch_id, timeout_ms):
    return json.loads(read(f"/batch-predictions/{batch_id}", timeout_ms))


def list_all(teamspace_id, limit, timeout_ms):
    users, after = [], ""
    while True:
        page = json.loads(read(f"/organization/teamspaces/{teamspace_id}/users?limit={limit}{after}", timeout_ms))
        users += page["data"]
        if not page["has_more"]:
            return users
        after = f"&after={page['data'][-1]['id']}" if page["data"] else after


def wait(batch_id, interval_ms, give_up_ms, timeout_ms):
    for _ in range(give_up_ms // interval_ms):
        if (batch := get(batch_id, timeout_ms))["status"] in ("completed", "failed", "expired", "cancelled"):
            return batch
        time.sleep(interval_ms / 1000)
    raise TimeoutError("still not terminal")


def results(batch_id, timeout_ms):
    lines = read(f"/batch-predictions/{batch_id}/results", timeout_ms).split(b"\n")
    return [json.loads(line) for line in lines if line.strip()]


def create_batch(body, timeout_ms, idempotency_key=None):
    headers = idempotency_key and {"Idempotency-Key": idempotency_key}
    return json.loads(read("/batch-predictions", timeout_ms, json.dumps(body).encode(), headers))


def upload(name, timeout_ms):
    return json.loads(read("/pages", timeout_ms, iter([json.dumps({"name": name}).encode()])))


def cancel(batch_id, timeout_ms):
    return json.loads(read(f"/batch-predictions/{batch_id}/cancel", timeout_ms, b""))


COMMANDS = {each.__name__: each for each in (get, list_all, wait, results, create_batch, upload, cancel)}


def error_of(error):
    if isinstance(error, HTTPError):
        return {"kind": KINDS.get(error.code, "server" if error.code >= 500 else "invalid"), "status": error.code}
    reason = getattr(error, "reason", error)
    kinds = ((TimeoutError, "timeout"), (http.client.IncompleteRead, "truncated"), (ValueError, "malformed"))
    return {"kind": next((kind for of, kind in kinds if isinstance(reason, of)), "network"), "message": repr(error)}


for line in sys.stdin:
    command = json.loads(line)
    run = COMMANDS.get(command.pop("command"))
    try:
        answer = {"ok": run(**command)} if run else {"unsupported": True}
    except Exception as error:
        answer = {"error": error_of(error)}
    print(json.dumps(answer), flush=True)
