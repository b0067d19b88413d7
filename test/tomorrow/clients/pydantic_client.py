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
from pydantic import BaseModel  # noqa: E402

EXTRA = "forbid" if sys.argv[1:] == ["forbid"] else "ignore"


class Model(BaseModel):
    class Config:
        extra = EXTRA


class PageScope(str, Enum):
    teamspace = "teamspace"
    organization = "organization"


class Page(Model):
    object: str
    id: str
    name: str
    teamspace_id: str
    scope: PageScope
    parent: Optional[Dict[str, Any]] = None
    created_at: datetime


class Teamspace(Model):
    id: str
    cloud_provider: str
    name: str
    access: str
    created_at: datetime


class Permissions(Model):
    role: str
    agent_ids: List[str]


class User(Model):
    id: str
    email: str
    first_name: str
    last_name: str
    permissions: Permissions


class Users(Model):
    object: str
    data: List[User]
    has_more: bool


class Category(str, Enum):
    document_analysis = "document_analysis"
    construction_project_management = "construction_project_management"
    financial_analysis = "financial_analysis"
    estimation = "estimation"
    quality_and_safety = "quality_and_safety"
    scheduling = "scheduling"
    contracts_and_legal = "contracts_and_legal"
    data_and_reporting = "data_and_reporting"
    research = "research"
    communication = "communication"
    general_productivity = "general_productivity"


class Skill(Model):
    object: str
    id: str
    scope: str
    category: Category
    slash_key: str
    name: str
    description: str
    instructions: str
    required_tools: List[str]
    preferred_tools: List[str]
    enabled: bool
    account_id: Optional[str] = None
    builtin_key: Optional[str] = None
    promoted_at: Optional[datetime] = None
    creator_id: Optional[str] = None
    created_at: datetime
    updated_at: datetime


class DataView(Model):
    object: str
    id: str
    warehouse_dataset_name: str
    created_at: datetime
    knowledge_id: str
    service_account_id: str


class DataViews(Model):
    object: str
    data: List[DataView]


class Counts(Model):
    total: int
    processing: int
    succeeded: int
    errored: int
    canceled: int
    expired: int


class Batch(Model):
    object: str
    id: str
    status: str
    model: str
    completion_window: str
    created_at: datetime
    expires_at: datetime
    in_progress_at: Optional[datetime] = None
    finalizing_at: Optional[datetime] = None
    completed_at: Optional[datetime] = None
    failed_at: Optional[datetime] = None
    cancelling_at: Optional[datetime] = None
    cancelled_at: Optional[datetime] = None
    expired_at: Optional[datetime] = None
    request_counts: Counts
    metadata: Dict[str, str]
    error: Optional[Dict[str, Any]] = None
    results_url: Optional[str] = None


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
