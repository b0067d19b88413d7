"""A client with models of pydantic, 1 or 2; with the argument "forbid" they refuse fields that they do not have."""

import json
import os
import sys
import urllib.request
import warnings
from datetime import datetime
from enum import Enum
from typing import Any, Dict, List, Optional

warnings.simplefilter("ignore")
from pydantic import BaseModel, create_model  # noqa: E402

EXTRA = "forbid" if sys.argv[1:] == ["forbid"] else "ignore"


class Model(BaseModel):
    class Config:
        extra = EXTRA


def model(title, /, texts="", **fields):
    """A model with these fields and these names of texts. A tuple of one type is an optional field."""
    fields.update({name: str for name in texts.split()})
    kinds = {name: (Optional[kind[0]], None) if isinstance(kind, tuple) else (kind, ...) for name, kind in fields.items()}
    return create_model(title, __base__=Model, **kinds)


def values(title, names):
    return Enum(title, {name: name for name in names.split()}, type=str)


PageScope = values("PageScope", "teamspace organization")
Category = values(
    "Category",
    "document_analysis construction_project_management financial_analysis estimation quality_and_safety scheduling"
    " contracts_and_legal data_and_reporting research communication general_productivity",
)
Page = model(
    "Page", "object id name teamspace_id", scope=PageScope, parent=(Dict[str, Any],), created_at=datetime
)
Teamspace = model("Teamspace", "id cloud_provider name access", created_at=datetime)
Permissions = model("Permissions", "role", agent_ids=List[str])
User = model("User", "id email first_name last_name", permissions=Permissions)
Users = model("Users", "object", data=List[User], has_more=bool)
Skill = model(
    "Skill",
    "object id scope slash_key name description instructions",
    category=Category,
    required_tools=List[str],
    preferred_tools=List[str],
    enabled=bool,
    **{name: (str,) for name in ("account_id", "builtin_key", "creator_id")},
    promoted_at=(datetime,),
    created_at=datetime,
    updated_at=datetime,
)
DataView = model("DataView", "object id warehouse_dataset_name knowledge_id service_account_id", created_at=datetime)
DataViews = model("DataViews", "object", data=List[DataView])
Counts = model("Counts", **{name: int for name in "total processing succeeded errored canceled expired".split()})
STATES = "in_progress finalizing completed failed cancelling cancelled expired".split()
Batch = model(
    "Batch",
    "object id status model completion_window",
    created_at=datetime,
    expires_at=datetime,
    **{f"{state}_at": (datetime,) for state in STATES},
    request_counts=Counts,
    metadata=Dict[str, str],
    error=(Dict[str, Any],),
    results_url=(str,),
)


def send(path, body=None):
    headers = {"Authorization": f"Bearer {os.environ['WORKSPACE_API_KEY']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(os.environ["WORKSPACE_BASE_URL"] + path, data, headers)) as response:
        return json.load(response)


BATCH = {
    "prompt": "Read the total.",
    "output_schema": {"type": "object", "properties": {"total": {"type": "number"}}},
    "model": "any-model",
    "items": [{"file_id": "file-invoice-1", "custom_id": "a"}],
}
batch = send("/batch-predictions", BATCH)
CALLS = {
    "pages.create": (Page, "/pages", {"name": "Plan"}),
    "teamspaces.create": (Teamspace, "/organization/teamspaces", {"name": "Pier"}),
    "teamspace-users.list": (Users, "/organization/teamspaces/teamspace-harbor/users", None),
    "skills.promote": (Skill, "/skills/skill-takeoff/promote", {}),
    "data-views.list": (DataViews, "/data-views", None),
    "batch-predictions.create": (Batch, "/batch-predictions", BATCH),
    "batch-predictions.retrieve": (Batch, f"/batch-predictions/{batch['id']}", None),
}
results = {}
for name, (model, path, body) in CALLS.items():
    try:
        model.parse_obj(send(path, body))
        results[name] = None
    except Exception as error:
        results[name] = str(error)[:300]
print(json.dumps(results))
