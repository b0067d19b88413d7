"""pytest fixtures for the emulated Agent Workspace Service: copy this file into the folder of your tests."""

import contextlib
import json
import os
import subprocess
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

open_directly = build_opener(ProxyHandler({})).open  # without a proxy, which would look for 127.0.0.1 elsewhere


def call(url, method, path, body=None):
    token = os.environ.get("WORKSPACE_EMULATOR_CONTROL_TOKEN")
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    request = Request(url + path, body and json.dumps(body).encode(), headers, method=method)
    try:
        return json.loads(open_directly(request).read() or "null")
    except HTTPError as error:
        raise RuntimeError(f"{method} {path}: {error.code} {error.read().decode()}") from None


class Workspace:
    """A sandbox: base_url and api_key for the client under test, control(method, path, body) for the test."""
    def __init__(self, url, api_key, options):
        self.name, self.url, self.api_key = f"py-{os.urandom(6).hex()}", url, api_key
        self.base_url = f"{url}/@{self.name}/v1"
        call(url, "POST", "/__emulator/sandboxes", {"rate": 0, **options, "name": self.name})

    def control(self, method, path, body=None):
        return call(self.url, method, f"/@{self.name}/__emulator{path}", body)

    def wait(self, gate, count=1, timeout_ms=5000):
        return self.control("POST", f"/gates/{gate}/wait", {"count": count, "timeout_ms": timeout_ms})["held"]

    def report(self):
        lines = []
        for entry in self.control("GET", "/requests?limit=10")["data"]:
            fault = f"  fault {', '.join(entry['faults'])}" if entry["faults"] else ""
            lines.append(f"{entry['method']} {entry['path']}  {entry['status'] or 'no response'}{fault}  {entry['id']}")
            if fault or not 100 <= entry["status"] < 400:
                lines.append("  " + self.control("GET", f"/explain/{entry['id']}")["summary"])
        lines = lines or ["It received no request: does the client use workspace.base_url and workspace.api_key?"]
        lines += [f"A fault that never fired: {name}" for name in self.control("GET", "/faults")["never_fired"]]
        gates = self.control("GET", "/gates")["data"]
        lines += [f"Still waiting at the gate {gate['id']}: {each['name']}" for gate in gates for each in gate["held"]]
        return "\n".join(lines).replace(f"/@{self.name}/v1", "/v1")


@pytest.fixture(scope="session")
def workspace_emulator():
    if url := os.environ.get("WORKSPACE_EMULATOR_URL"):
        return (yield url, os.environ.get("WORKSPACE_API_KEY", "live_demo_owner"))
    command = f"npx{'.cmd' * (os.name == 'nt')} --offline agent-workspace-emulator start --ephemeral --port 0 --json".split()
    # In a session of its own, so that Ctrl-C reaches pytest alone, which then ends the emulator.
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        if not (ready := json.loads(process.stdout.readline() or "null")):
            pytest.exit(f"The emulator did not start. This command prints the reason: {' '.join(command)}", 1)
        url = ready["control_url"].rsplit("/", 1)[0]
        yield url, ready["keys"]["user"]
        call(url, "POST", "/__emulator/shutdown")


@pytest.fixture
def workspace(request, workspace_emulator):
    sandbox = Workspace(*workspace_emulator, getattr(request.node.get_closest_marker("workspace"), "kwargs", {}))
    yield sandbox
    if not (getattr(request.node, "failed", False) and os.environ.get("WORKSPACE_EMULATOR_URL")):
        call(sandbox.url, "DELETE", f"/__emulator/sandboxes/{sandbox.name}")


def pytest_configure(config):
    config.addinivalue_line("markers", "workspace(**options): how its sandbox starts, as in POST /sandboxes")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "call" and report.failed and "workspace" in item.funcargs:
        item.failed = True
        with contextlib.suppress(OSError):  # the emulator has ended
            report.sections.append(("The emulated service, as this test left it", item.funcargs["workspace"].report()))
