"""The one call of a case, for clients of Python: a read, or a create with a key or without one."""
import os
import sys

KIND = os.environ["WORKSPACE_CERTIFY_CASE"].split("/")[0]
IS_BATCH = KIND == "create-with-key"
PATH = {"read": "/data-views", "create-with-key": "/batch-predictions"}.get(KIND, "/pages")
URL = os.environ["WORKSPACE_BASE_URL"] + PATH
METHOD = "GET" if KIND == "read" else "POST"
HEADERS = {"Authorization": "Bearer " + os.environ["WORKSPACE_API_KEY"], **({"Idempotency-Key": "order-1"} if IS_BATCH else {})}
BATCH = {
    "prompt": "Read the total.",
    "output_schema": {"type": "object"},
    "model": "any-model",
    "items": [{"custom_id": "a", "file_id": "file-invoice-1"}],
}
JSON = None if KIND == "read" else BATCH if IS_BATCH else {"name": "Roof plan"}
TIMEOUT = int(os.environ["WORKSPACE_CERTIFY_TIMEOUT_MS"]) / 1000


def report(kind, error, traceback):
    """A program with an error says so in one line: a traceback would count as a crash."""
    print(error, file=sys.stderr)


sys.excepthook = report
