import type { Requirement } from './requirement.ts'

/** R121 to R197. Rules of every endpoint, and the endpoints of all families but the batch. */
export const endpoints = [
  {
    id: 'R121',
    section: 'Endpoints',
    description:
      'Each of the 19 endpoints refuses a call without a valid bearer key, in its own error form and without an effect.',
  },
  {
    id: 'R122',
    section: 'Endpoints',
    description:
      'Each of the 19 endpoints is rate limited, including those whose own section does not mention 429.',
  },
  {
    id: 'R123',
    section: 'Endpoints',
    description:
      'A rejected request leaves the state untouched, and checks run in the order key, rate, path and permission, body.',
  },
  {
    id: 'R124',
    section: 'Endpoints / Message feedback',
    description:
      'Feedback takes a message UUID, bare or followed by `-user` or `-agent`; an id of any other form is a 400.',
  },
  {
    id: 'R125',
    section: 'Endpoints / Message feedback',
    description: 'Feedback without a JSON object as its body is refused.',
  },
  {
    id: 'R126',
    section: 'Endpoints / Message feedback',
    description: '`like` is required and must be the integer 1 or -1.',
  },
  {
    id: 'R127',
    section: 'Endpoints / Message feedback',
    description: '`feedback` may be absent, null or any string, however long the body limit allows.',
  },
  {
    id: 'R128',
    section: 'Endpoints / Message feedback',
    description:
      '`ui_surface` may be absent, null or one of three configured names; another string is refused.',
  },
  {
    id: 'R129',
    section: 'Endpoints / Message feedback',
    description: 'Successful feedback is an empty 204 without a content type, yet with rate-limit headers.',
  },
  {
    id: 'R130',
    section: 'Endpoints / Message feedback',
    description:
      "Whether a trace would be donated follows the user's consent, is only logged, and leaves the machine in no case.",
  },
  {
    id: 'R131',
    section: 'Endpoints / Message feedback',
    description: 'Feedback on the message of a user is a 400, while agent and voice messages accept it.',
  },
  {
    id: 'R132',
    section: 'Endpoints / Message feedback',
    description:
      'Missing conversation, missing message and missing permission all give the same 404, so that existence cannot be guessed.',
  },
  {
    id: 'R133',
    section: 'Endpoints / Message feedback',
    description: 'Feedback beyond the rate limit is a 429 in the standard form.',
  },
  {
    id: 'R134',
    section: 'Endpoints / Claim a generated agent template',
    description:
      '`claim_token` is a non-empty string that generation issued; another type or an unknown token is refused.',
  },
  {
    id: 'R135',
    section: 'Endpoints / Claim a generated agent template',
    description: 'Claiming with a token that was used before is a client error and returns no template.',
  },
  {
    id: 'R136',
    section: 'Endpoints / Claim a generated agent template',
    description:
      'A claim responds with the agent template of its token, equal to the stored one member for member.',
  },
  {
    id: 'R137',
    section: 'Endpoints / Claim a generated agent template',
    description:
      'A claim that failed on its key, on the rate limit or on an injected error leaves the token usable.',
  },
  {
    id: 'R138',
    section: 'Endpoints / Create page',
    description:
      'Page creation reads a string `name` and an object `parent`, and which of them is required is a named setting.',
  },
  {
    id: 'R139',
    section: 'Endpoints / Create page',
    description: 'Page creation responds with a complete page.',
  },
  {
    id: 'R140',
    section: 'Endpoints / Create page',
    description: 'Page creation beyond the rate limit is a 429 in the standard form.',
  },
  {
    id: 'R141',
    section: 'Endpoints / Complete MCP OAuth flow',
    description: 'The OAuth callback refuses an unknown `server_id` and changes nothing.',
  },
  {
    id: 'R142',
    section: 'Endpoints / Complete MCP OAuth flow',
    description: 'The OAuth callback takes a string `code` of at most 4096 characters.',
  },
  {
    id: 'R143',
    section: 'Endpoints / Complete MCP OAuth flow',
    description:
      'The OAuth callback takes a `state` of at most 512 characters that equals the one issued for this server.',
  },
  {
    id: 'R144',
    section: 'Endpoints / Complete MCP OAuth flow',
    description:
      'The OAuth callback takes a `redirect_uri` of at most 2048 characters that equals the one given at the start of the flow.',
  },
  {
    id: 'R145',
    section: 'Endpoints / Complete MCP OAuth flow',
    description:
      '`redirect_uri` must be HTTPS unless its host is literally `localhost`, `127.0.0.1` or `[::1]`; look-alike hosts are refused.',
  },
  {
    id: 'R146',
    section: 'Endpoints / Complete MCP OAuth flow',
    description: 'A successful OAuth callback responds with a complete callback result.',
  },
  {
    id: 'R147',
    section: 'Endpoints / Complete MCP OAuth flow',
    description:
      'A service key is turned away from the OAuth callback by `mcp_oauth_requires_user_principal`, not retryable, and the flow remains pending.',
  },
  {
    id: 'R148',
    section: 'Endpoints / Complete MCP OAuth flow',
    description: 'An OAuth callback beyond the rate limit is a 429 in the standard form.',
  },
  {
    id: 'R149',
    section: 'Endpoints / Update teamspace',
    description:
      'A teamspace update changes those of `name` and `access` that it supplies and keeps the other.',
  },
  {
    id: 'R150',
    section: 'Endpoints / Update teamspace',
    description:
      'A teamspace update responds with the teamspace as it is afterwards, its id, creation instant and cloud as before.',
  },
  {
    id: 'R151',
    section: 'Endpoints / Update teamspace',
    description: 'A teamspace update beyond the rate limit is a 429 in the standard form.',
  },
  {
    id: 'R152',
    section: 'Endpoints / Create teamspace',
    description: 'A teamspace can be created from a `name` alone, and the bound of 300 characters holds.',
  },
  {
    id: 'R153',
    section: 'Endpoints / Create teamspace',
    description:
      'Teamspace creation works with and without `access` and `cloud_provider` in all four combinations.',
  },
  {
    id: 'R154',
    section: 'Endpoints / Create teamspace',
    description:
      'Teamspace creation responds with a complete teamspace, and with a 429 beyond the rate limit.',
  },
  {
    id: 'R155',
    section: 'Endpoints / List teamspace users',
    description:
      '`search` keeps users whose name or e-mail contains the text literally, without special characters; an empty text keeps all.',
  },
  {
    id: 'R156',
    section: 'Endpoints / List teamspace users',
    description: 'The users list applies the bounds 1 and 100 to `limit`.',
  },
  {
    id: 'R157',
    section: 'Endpoints / List teamspace users',
    description:
      'Cursors of the users list work together with `search` and `limit`, so that a filtered walk meets each match once.',
  },
  {
    id: 'R158',
    section: 'Endpoints / List teamspace users',
    description: 'The users list says `has_more: true` on each page but the last.',
  },
  {
    id: 'R159',
    section: 'Endpoints / List teamspace users',
    description: 'Listing users beyond the rate limit is a 429 in the standard form.',
  },
  {
    id: 'R160',
    section: 'Endpoints / Delete teamspace user',
    description:
      "Deleting a teamspace user ends that user's access to this teamspace and listing in it, not in others.",
  },
  {
    id: 'R161',
    section: 'Endpoints / Delete teamspace user',
    description: 'Deleting a teamspace user beyond the rate limit is a 429 in the standard form.',
  },
  {
    id: 'R162',
    section: 'Endpoints / List consumption breakdown',
    description:
      "The consumption report shows rows of the caller's organization and its teamspaces, and none of another organization.",
  },
  {
    id: 'R163',
    section: 'Endpoints / List consumption breakdown',
    description:
      '`start_date` is inclusive; a bare date means its UTC midnight, and a date-time is used as given.',
  },
  {
    id: 'R164',
    section: 'Endpoints / List consumption breakdown',
    description:
      'A bare date in `end_date` includes its whole UTC day up to, but not including, the next midnight.',
  },
  {
    id: 'R165',
    section: 'Endpoints / List consumption breakdown',
    description:
      'A date-time in `end_date` includes a row at that instant and excludes one a millisecond later.',
  },
  {
    id: 'R166',
    section: 'Endpoints / List consumption breakdown',
    description:
      'UTC offsets in report dates are honoured, and impossible or loosely written dates are refused.',
  },
  {
    id: 'R167',
    section: 'Endpoints / List consumption breakdown',
    description: 'The consumption report applies the bounds 1 and 100 to `limit`.',
  },
  {
    id: 'R168',
    section: 'Endpoints / List consumption breakdown',
    description:
      'In the consumption report `after` continues from `last_id` and `before` goes back from `first_id`, without loss or repetition while nothing is written.',
  },
  {
    id: 'R169',
    section: 'Endpoints / List consumption breakdown',
    description: 'A consumption window may touch 90 UTC dates at most; with 91 it is not served as asked.',
  },
  {
    id: 'R170',
    section: 'Endpoints / List consumption breakdown',
    description:
      'A row that is written between two page requests shifts the consumption pages, because cursors are positions.',
  },
  {
    id: 'R171',
    section: 'Endpoints / List consumption breakdown',
    description:
      'The consumption report responds with a list of complete rows, and with a 429 beyond the rate limit.',
  },
  {
    id: 'R172',
    section: 'Endpoints / Promote skill to company',
    description:
      'Promotion works without body and content type, and a body that is sent anyway has no influence.',
  },
  {
    id: 'R173',
    section: 'Endpoints / Promote skill to company',
    description:
      'Promotion responds with the skill in account scope, with its account and with `promoted_at` at the virtual now.',
  },
  {
    id: 'R174',
    section: 'Endpoints / Promote skill to company',
    description:
      'Promotion needs authorship, the account admin role and `ep:skills:write` at once; with any of them missing the skill stays as it was.',
  },
  {
    id: 'R175',
    section: 'Endpoints / Promote skill to company',
    description: 'A skill that is not in user scope is never altered by promotion.',
  },
  {
    id: 'R176',
    section: 'Endpoints / Create connection',
    description:
      'Connection creation reads the strings `connector_id` and `connection_provider_id` and refuses other types.',
  },
  {
    id: 'R177',
    section: 'Endpoints / Create connection',
    description:
      'Connection creation responds with a redirect URL resource, and with a 429 beyond the rate limit.',
  },
  {
    id: 'R178',
    section: 'Endpoints / List data views',
    description:
      'Data views can be filtered by `service_account_id` and `knowledge_id`, alone or both at once.',
  },
  {
    id: 'R179',
    section: 'Endpoints / List data views',
    description: 'The data view list applies the bounds 1 and 100 to `limit`.',
  },
  {
    id: 'R180',
    section: 'Endpoints / List data views',
    description:
      '`offset` is an integer from 0 to 100000 and gives the position of the first data view of the response.',
  },
  {
    id: 'R181',
    section: 'Endpoints / List data views',
    description:
      'The data view list responds with complete data views, and with a 429 beyond the rate limit.',
  },
  {
    id: 'R182',
    section: 'Endpoints / List MCP servers',
    description: "The MCP server list shows the servers of the key's teamspace and those of no other.",
  },
  {
    id: 'R183',
    section: 'Endpoints / List MCP servers',
    description:
      'The MCP server list responds with complete servers in a list envelope, and with a 429 beyond the rate limit.',
  },
  {
    id: 'R184',
    section: 'Endpoints / Delete automation',
    description:
      'Deleting an automation is soft: the record is hidden from the API, and its history is kept.',
  },
  {
    id: 'R185',
    section: 'Endpoints / Delete automation',
    description: "Deleting an automation changes neither its agent nor the agent's other automations.",
  },
  {
    id: 'R186',
    section: 'Endpoints / Delete automation',
    description:
      "A run that was queued before an automation's deletion may still happen if the setting says so; no new one is scheduled.",
  },
  {
    id: 'R187',
    section: 'Endpoints / Delete automation',
    description: 'Deleting an automation beyond the rate limit is a 429 in the standard form.',
  },
  {
    id: 'R188',
    section: 'Endpoints / Update event trigger',
    description: 'A trigger update changes precisely the supplied fields and `updated_at`.',
  },
  {
    id: 'R189',
    section: 'Endpoints / Update event trigger',
    description: 'In a trigger update `enabled` must be a boolean; strings, numbers and null are refused.',
  },
  {
    id: 'R190',
    section: 'Endpoints / Update event trigger',
    description:
      'In a trigger update `trigger_event` has two non-empty parts around a colon and at most 255 characters, and is not nullable.',
  },
  {
    id: 'R191',
    section: 'Endpoints / Update event trigger',
    description: 'In a trigger update `name` has at most 255 characters, and null clears it.',
  },
  {
    id: 'R192',
    section: 'Endpoints / Update event trigger',
    description: 'In a trigger update `description` has at most 1000 characters, and null clears it.',
  },
  {
    id: 'R193',
    section: 'Endpoints / Update event trigger',
    description: 'In a trigger update `run_conditions` has at most 3000 characters, and null clears it.',
  },
  {
    id: 'R194',
    section: 'Endpoints / Update event trigger',
    description:
      'In a trigger update `response_thread` takes the single value `create_new_thread_each_time`, not null.',
  },
  {
    id: 'R195',
    section: 'Endpoints / Update event trigger',
    description:
      'A trigger update with another `trigger_source` leaves the provider of the trigger as it was.',
  },
  {
    id: 'R196',
    section: 'Endpoints / Update event trigger',
    description:
      'A trigger update responds with the complete trigger including `warnings`, and with a 429 beyond the rate limit.',
  },
  {
    id: 'R197',
    section: 'Endpoints / Update event trigger',
    description:
      'One invalid field makes a trigger update fail as a whole, with none of the valid fields applied.',
  },
] as const satisfies readonly Requirement[]
