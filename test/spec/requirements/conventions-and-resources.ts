import type { Requirement } from './requirement.ts'

/** R001 to R075. Conventions, and the resources other than the batch. */
export const conventionsAndResources = [
  {
    id: 'R001',
    section: 'Interface Specification',
    description:
      'Requests are served only beneath a base URL whose last path segment is `/v1`; the same path without it or under `/v2` is unknown.',
  },
  {
    id: 'R002',
    section: 'Interface Specification',
    description:
      'Request and answer bodies are JSON with a matching content type, except the NDJSON results, problem details on batch endpoints, and an empty 204.',
  },
  {
    id: 'R003',
    section: 'Interface Specification',
    description:
      "Every timestamp in a response is an ISO 8601 string with an explicit zone, and the host's time zone has no influence on it.",
  },
  {
    id: 'R004',
    section: 'Interface Specification',
    description:
      'A response contains only members that the specification lists or that a fixture supplied; each open point is a named assumption, a pass-through or a 501.',
  },
  {
    id: 'R005',
    section: 'What the service does',
    description:
      'All 19 endpoints with a contract are routed at their exact method and path, and another method on such a path changes nothing.',
  },
  {
    id: 'R006',
    section: 'Resources and their fields / Conventions',
    description:
      'A resource whose table lists `object` carries that constant, while teamspaces, teamspace users and agent templates have no such member.',
  },
  {
    id: 'R007',
    section: 'Resources and their fields / Conventions',
    description:
      'A list answers `object: "list"` and an array `data`, empty rather than null, plus a boolean `has_more` wherever that list has one.',
  },
  {
    id: 'R008',
    section: 'Resources and their fields / Conventions',
    description:
      'On the users list `after` and `before` take the id of an item and continue directly after or before it, so that a walk returns each item once.',
  },
  {
    id: 'R009',
    section: 'Resources and their fields / Conventions',
    description:
      '`limit` must be a plain decimal integer from 1 to 100; everything else is refused as a client error and never clamped.',
  },
  {
    id: 'R010',
    section: 'Resources and their fields / Conventions',
    description:
      'A page of a list holds exactly `limit` items while more exist and never holds more than that.',
  },
  {
    id: 'R011',
    section: 'Resources and their fields / Page',
    description: 'A page has the constant `object: "page"`.',
  },
  {
    id: 'R012',
    section: 'Resources and their fields / Page',
    description: 'Every created page receives an id that no other page has, also after a restart.',
  },
  {
    id: 'R013',
    section: 'Resources and their fields / Page',
    description:
      'The `name` of a page comes back exactly as it was sent, whatever characters it holds, or the request is refused.',
  },
  {
    id: 'R014',
    section: 'Resources and their fields / Page',
    description:
      "The `teamspace_id` of a page is the teamspace of the caller's key and cannot be chosen in the body.",
  },
  {
    id: 'R015',
    section: 'Resources and their fields / Page',
    description: 'The `scope` of a page is either `teamspace` or `organization`.',
  },
  {
    id: 'R016',
    section: 'Resources and their fields / Page',
    description:
      'A page keeps a `parent` of the form `{type: "page", page_id}` unchanged and refuses a `page_id` that is not a string.',
  },
  {
    id: 'R017',
    section: 'Resources and their fields / Page',
    description: 'The `created_at` of a page is the virtual instant of its creation and stays so.',
  },
  {
    id: 'R018',
    section: 'Resources and their fields / Teamspace',
    description: 'Every created teamspace receives a unique string id.',
  },
  {
    id: 'R019',
    section: 'Resources and their fields / Teamspace',
    description:
      'The `cloud_provider` of a teamspace is one of the two configured identifiers, and any other value is refused.',
  },
  {
    id: 'R020',
    section: 'Resources and their fields / Teamspace',
    description: 'A teamspace that is created without `cloud_provider` gets the second cloud, `cloud_b`.',
  },
  {
    id: 'R021',
    section: 'Resources and their fields / Teamspace',
    description: 'The `cloud_provider` of an existing teamspace stays the same whatever an update sends.',
  },
  {
    id: 'R022',
    section: 'Resources and their fields / Teamspace',
    description: "The `cloud_provider` of the caller's teamspace determines which models a batch may name.",
  },
  {
    id: 'R023',
    section: 'Resources and their fields / Teamspace',
    description:
      'A teamspace `name` may hold up to 300 code points on create and on update, and 301 are refused.',
  },
  {
    id: 'R024',
    section: 'Resources and their fields / Teamspace',
    description:
      'The `access` of a teamspace is `open` or `closed` on create and on update, and nothing else is accepted.',
  },
  {
    id: 'R025',
    section: 'Resources and their fields / Teamspace',
    description:
      'An organization member may join an open teamspace without approval, and a user who joined that way may only converse with its agents.',
  },
  {
    id: 'R026',
    section: 'Resources and their fields / Teamspace',
    description: 'A user joins a closed teamspace only after an admin has approved it.',
  },
  {
    id: 'R027',
    section: 'Resources and their fields / Teamspace',
    description: 'The `created_at` of a teamspace is the virtual instant of creation and survives updates.',
  },
  {
    id: 'R028',
    section: 'Resources and their fields / Teamspace user (list item)',
    description: 'Each listed teamspace user has the strings `id`, `email`, `first_name` and `last_name`.',
  },
  {
    id: 'R029',
    section: 'Resources and their fields / Teamspace user (list item)',
    description:
      'The `email` of a teamspace user is a well-formed address, and starting data with another value is refused.',
  },
  {
    id: 'R030',
    section: 'Resources and their fields / Teamspace user (list item)',
    description:
      'Each listed teamspace user has `permissions` with a string `role` and an array of strings `agent_ids`.',
  },
  {
    id: 'R031',
    section: 'Resources and their fields / Teamspace user (list item)',
    description:
      '`owner` is among the roles of teamspace users, and any other seeded role is listed as it was given.',
  },
  {
    id: 'R032',
    section: 'Resources and their fields / Skill',
    description: 'A skill has the constant `object: "skill"`.',
  },
  {
    id: 'R033',
    section: 'Resources and their fields / Skill',
    description: 'The skill in a promote answer has the id that the path named.',
  },
  {
    id: 'R034',
    section: 'Resources and their fields / Skill',
    description: 'The `scope` of a skill is `user`, `account` or `builtin`.',
  },
  {
    id: 'R035',
    section: 'Resources and their fields / Skill',
    description:
      'The `category` of a skill is one of exactly eleven values, and a twelfth is refused when data is loaded.',
  },
  {
    id: 'R036',
    section: 'Resources and their fields / Skill',
    description:
      'A skill has the strings `slash_key`, `name`, `description` and `instructions`, which promotion leaves alone.',
  },
  {
    id: 'R037',
    section: 'Resources and their fields / Skill',
    description:
      '`required_tools` and `preferred_tools` of a skill are arrays of strings, possibly empty, never null.',
  },
  {
    id: 'R038',
    section: 'Resources and their fields / Skill',
    description: 'The `enabled` flag of a skill is a boolean that promotion does not touch.',
  },
  {
    id: 'R039',
    section: 'Resources and their fields / Skill',
    description:
      'The `account_id` of a skill names the owning account in account scope and is null in user scope and for built-ins.',
  },
  {
    id: 'R040',
    section: 'Resources and their fields / Skill',
    description: 'The `builtin_key` of a skill is null when a user wrote it and stays null after promotion.',
  },
  {
    id: 'R041',
    section: 'Resources and their fields / Skill',
    description:
      'The `promoted_at` of a skill is null in user scope and becomes the virtual instant of its promotion.',
  },
  {
    id: 'R042',
    section: 'Resources and their fields / Skill',
    description:
      "The `creator_id` of a skill is its creator's user id, null for a built-in that was never edited, and the same after promotion.",
  },
  {
    id: 'R043',
    section: 'Resources and their fields / Skill',
    description:
      'A skill has `created_at` and `updated_at`, the second never earlier than the first, and promotion keeps the first.',
  },
  {
    id: 'R044',
    section: 'Resources and their fields / MCP server',
    description: 'Every listed MCP server has the constant `object: "mcp_server"`.',
  },
  {
    id: 'R045',
    section: 'Resources and their fields / MCP server',
    description:
      'An MCP server has string members from `id` to `status`, with `transport` and `status` exactly as seeded.',
  },
  {
    id: 'R046',
    section: 'Resources and their fields / MCP server',
    description:
      'The `metadata` of an MCP server holds two booleans on OAuth, an integer `tool_count` and a string `last_synced_at`.',
  },
  {
    id: 'R047',
    section: 'Resources and their fields / MCP server',
    description: 'An MCP server has `created_at` and `updated_at`, and the second is never before the first.',
  },
  {
    id: 'R048',
    section: 'Resources and their fields / MCP server',
    description:
      'The `managed_by_app` of an MCP server is an object with the strings `app_uuid` and `app_name`, not null.',
  },
  {
    id: 'R049',
    section: 'Resources and their fields / MCP server',
    description:
      'An MCP server shows the id of its authorization secret; the secret itself appears in no output.',
  },
  {
    id: 'R050',
    section: 'Resources and their fields / OAuth callback result',
    description: 'A successful OAuth callback responds with `object: "mcp_oauth_callback"`.',
  },
  {
    id: 'R051',
    section: 'Resources and their fields / OAuth callback result',
    description: 'No successful OAuth callback responds with `oauth_configured` other than true.',
  },
  {
    id: 'R052',
    section: 'Resources and their fields / OAuth callback result',
    description:
      '`tools_synced` is true only after the tools were synced again, and false when the caller may not edit the organization or the sync failed.',
  },
  {
    id: 'R053',
    section: 'Resources and their fields / OAuth callback result',
    description:
      'An OAuth callback result has a non-empty `message` for people, on which nothing else depends.',
  },
  {
    id: 'R054',
    section: 'Resources and their fields / Consumption breakdown row',
    description:
      'A consumption row has its constant `object`, a number `credits`, a timestamp `created_at` and five further strings.',
  },
  {
    id: 'R055',
    section: 'Resources and their fields / Consumption breakdown row',
    description: 'A consumption row has the eight listed members and no amount of money.',
  },
  {
    id: 'R056',
    section: 'Resources and their fields / Consumption breakdown row',
    description: 'The consumption list always has `object`, `data`, `has_more`, `first_id` and `last_id`.',
  },
  {
    id: 'R057',
    section: 'Resources and their fields / Consumption breakdown row',
    description:
      '`first_id` and `last_id` are both null on an empty page of consumption and both strings otherwise.',
  },
  {
    id: 'R058',
    section: 'Resources and their fields / Consumption breakdown row',
    description:
      "The cursors of the consumption list are opaque positions from which neither a row's id nor its instant can be read.",
  },
  {
    id: 'R059',
    section: 'Resources and their fields / Data view',
    description:
      'A data view has `object: "data_view"`, a `created_at`, and strings for its id, dataset name, knowledge and service account.',
  },
  {
    id: 'R060',
    section: 'Resources and their fields / Data view',
    description: 'The data view list consists of `object` and `data` and has no paging members.',
  },
  {
    id: 'R061',
    section: 'Resources and their fields / Connection redirect',
    description:
      'A connection redirect has two members only: `object: "redirect_url"` and an absolute URL in `redirect_url`.',
  },
  {
    id: 'R062',
    section: 'Resources and their fields / Agent template (result of a claim)',
    description: 'An agent template has the strings `id`, `title`, `description`, `emoji` and `category`.',
  },
  {
    id: 'R063',
    section: 'Resources and their fields / Agent template (result of a claim)',
    description:
      'The `connectors` of an agent template are an array of objects that come back as they were seeded.',
  },
  {
    id: 'R064',
    section: 'Resources and their fields / Agent template (result of a claim)',
    description: 'The `prompt_examples` of an agent template are an array of strings.',
  },
  {
    id: 'R065',
    section: 'Resources and their fields / Agent template (result of a claim)',
    description: 'The `is_curated_template` member of an agent template is a boolean.',
  },
  {
    id: 'R066',
    section: 'Resources and their fields / Agent template (result of a claim)',
    description:
      'The `config` of an agent template has the strings `prompt` and `custom_prompt` and an array `tools` of `{tool}` objects.',
  },
  {
    id: 'R067',
    section: 'Resources and their fields / Event trigger',
    description: 'An event trigger has `object: "event_trigger"` and a string id.',
  },
  {
    id: 'R068',
    section: 'Resources and their fields / Event trigger',
    description:
      'An agent runs on a matching provider event only while the boolean `enabled` of the trigger is true.',
  },
  {
    id: 'R069',
    section: 'Resources and their fields / Event trigger',
    description:
      'The `trigger_source` of an event trigger is one of three configured providers and is never altered after creation.',
  },
  {
    id: 'R070',
    section: 'Resources and their fields / Event trigger',
    description:
      'The `trigger_event` of an event trigger is a string of two parts joined by a colon and comes back as it was set.',
  },
  {
    id: 'R071',
    section: 'Resources and their fields / Event trigger',
    description:
      '`name`, `description` and `run_conditions` of an event trigger are always present, as a string or as null.',
  },
  {
    id: 'R072',
    section: 'Resources and their fields / Event trigger',
    description:
      'A trigger whose `run_conditions` are null fires on every matching event; otherwise it fires only when they are judged to hold.',
  },
  {
    id: 'R073',
    section: 'Resources and their fields / Event trigger',
    description:
      'With `response_thread` set each event starts a new thread; without it all events share one thread.',
  },
  {
    id: 'R074',
    section: 'Resources and their fields / Event trigger',
    description:
      'A change sets `updated_at` of an event trigger to the virtual now and leaves `created_at` alone.',
  },
  {
    id: 'R075',
    section: 'Resources and their fields / Event trigger',
    description:
      '`warnings` of an event trigger is always an array of `{code, message}`, empty when nothing is missing, and never makes a request fail.',
  },
] as const satisfies readonly Requirement[]
