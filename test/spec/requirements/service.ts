import type { Requirement } from './requirement.ts'

/** R226 to R296. Keys, events, errors, limits, versions, and what spans them all. */
export const service = [
  {
    id: 'R226',
    section: 'Authentication',
    description:
      "A call is authenticated by `Authorization: Bearer` and by nothing else, with the scheme's letter case ignored.",
  },
  {
    id: 'R227',
    section: 'Authentication',
    description: 'A key is either user-scoped or a service key, and its configured prefix tells which.',
  },
  {
    id: 'R228',
    section: 'Authentication',
    description:
      'The OAuth callback demands a user-scoped key, whatever permissions a service key was given.',
  },
  {
    id: 'R229',
    section: 'Authentication',
    description: 'A key of one teamspace neither reads nor changes objects of another, on any endpoint.',
  },
  {
    id: 'R230',
    section: 'Authentication',
    description:
      'A conversation or message that the caller may not see responds with 404 rather than a refusal.',
  },
  {
    id: 'R231',
    section: 'Authentication',
    description: 'A bearer token never shows up in a response, log, error, dashboard or exported state.',
  },
  {
    id: 'R232',
    section: 'Events / Batch prediction webhooks',
    description:
      'Reaching a terminal state emits the one event type of that state, and other moves emit none.',
  },
  {
    id: 'R233',
    section: 'Events / Batch prediction webhooks',
    description:
      'A terminal transition emits one event, however often the process restarts or cancel is repeated.',
  },
  {
    id: 'R234',
    section: 'Events / Batch prediction webhooks',
    description: 'A batch webhook delivers, as JSON, the object that a retrieve would return.',
  },
  {
    id: 'R235',
    section: 'Events / Batch prediction webhooks',
    description: 'A batch webhook carries no result lines and no member besides those of the batch.',
  },
  {
    id: 'R236',
    section: 'Events / Batch prediction webhooks',
    description: 'When a batch webhook arrives, the batch is terminal and its results can be read.',
  },
  {
    id: 'R237',
    section: 'Events / Inbound provider events (event triggers)',
    description:
      'A trigger fires if and only if source and event match, it is enabled and its conditions are judged to hold.',
  },
  {
    id: 'R238',
    section: 'Events / Inbound provider events (event triggers)',
    description:
      'Firings of a trigger open a new thread each time or reuse one, as its `response_thread` says.',
  },
  {
    id: 'R239',
    section: 'Errors / Standard error body',
    description:
      'Every error outside the batch endpoints has the standard body, unknown routes and broken requests included.',
  },
  {
    id: 'R240',
    section: 'Errors / Standard error body',
    description:
      '`statusCode` repeats `status_code`, both equal the HTTP status, and a setting can drop the old name.',
  },
  {
    id: 'R241',
    section: 'Errors / Standard error body',
    description: 'The `error` of a standard body is a lower-case snake_case code.',
  },
  {
    id: 'R242',
    section: 'Errors / Standard error body',
    description: 'The `mitigation` of a standard body is a string or absent, never null.',
  },
  {
    id: 'R243',
    section: 'Errors / Standard error body',
    description:
      '`retryable` is true for a 429 and false where waiting cannot help, such as for invalid input.',
  },
  {
    id: 'R244',
    section: 'Errors / Standard error body',
    description: 'The `details` of a rate-limit error hold a string `reason`.',
  },
  {
    id: 'R245',
    section: 'Errors / Batch prediction errors',
    description:
      'Every error of the four batch endpoints is `application/problem+json` with `type` under the configured base, `title`, `status`, `detail` and `instance`.',
  },
  {
    id: 'R246',
    section: 'Errors / Batch prediction errors',
    description:
      'An error body is of one form only: no problem has `status_code`, and no standard body has `title`.',
  },
  {
    id: 'R247',
    section: 'Errors / Conditions',
    description:
      'The three listed causes of a 400 are answered with it: malformed message id, wrong kind of message, root conversation.',
  },
  {
    id: 'R248',
    section: 'Errors / Conditions',
    description: 'A conversation or message that is missing or not permitted is a 404 in the standard form.',
  },
  {
    id: 'R249',
    section: 'Errors / Conditions',
    description: 'Reusing an `Idempotency-Key` with a different body is answered 409.',
  },
  {
    id: 'R250',
    section: 'Errors / Conditions',
    description: 'Asking for results that were cleaned up is answered 410.',
  },
  {
    id: 'R251',
    section: 'Errors / Conditions',
    description:
      'An errored item is a line with status 422, type `prediction_failed` and title `Prediction Failed`, and never an HTTP 422.',
  },
  {
    id: 'R252',
    section: 'Errors / Conditions',
    description:
      'A rate-limit error is coded `rate_limit_exceeded` in both forms and titled `Rate Limit Exceeded` as a problem.',
  },
  { id: 'R253', section: 'Errors', description: 'No error body holds a stack trace, a file path or HTML.' },
  {
    id: 'R254',
    section: 'Errors',
    description: 'No request causes a 5xx, except one that a fault rule or a setting configures.',
  },
  {
    id: 'R255',
    section: 'Limits / Rate limits',
    description: 'By default 200 requests pass within 60 seconds, and the next one is a 429.',
  },
  {
    id: 'R256',
    section: 'Limits / Rate limits',
    description: 'The rate window slides: each admitted request frees its place exactly 60 seconds later.',
  },
  {
    id: 'R257',
    section: 'Limits / Rate limits',
    description:
      'Every combination of teamspace, endpoint and method has its own window, shared by all keys of the teamspace.',
  },
  {
    id: 'R258',
    section: 'Limits / Rate limits',
    description: 'An endpoint can have its own limit, which is enforced and shown in `X-RateLimit-Limit`.',
  },
  {
    id: 'R259',
    section: 'Limits / Rate limits',
    description:
      'Every answer, errors of the HTTP parser included, has integer `X-RateLimit-Limit`, `-Remaining` and `-Reset` headers.',
  },
  {
    id: 'R260',
    section: 'Limits / Rate limits',
    description: '`X-RateLimit-Remaining` falls by one per admitted request and stops at zero.',
  },
  {
    id: 'R261',
    section: 'Limits / Rate limits',
    description: '`X-RateLimit-Reset` is a Unix second between now and a minute ahead.',
  },
  {
    id: 'R262',
    section: 'Limits / Rate limits',
    description:
      '`Retry-After` is present exactly when nothing remains, on the last admitted request as well, and is at least 1.',
  },
  {
    id: 'R263',
    section: 'Limits / Rate limits',
    description:
      'Waiting the seconds of `Retry-After` is enough for the next request to pass, and waiting a second less is not.',
  },
  {
    id: 'R264',
    section: 'Limits / Rate limits',
    description:
      'A 429 of an ordinary endpoint has the standard body with `rate_limit_exceeded`, `retryable: true` and a `Retry-After`.',
  },
  {
    id: 'R265',
    section: 'Limits / Rate limits',
    description:
      'A 429 of a batch endpoint is problem details, and its rate headers describe the rule that refused it.',
  },
  {
    id: 'R266',
    section: 'Limits / Rate limits',
    description:
      'Any of the four admission policies can refuse a batch creation, which succeeds after the stated wait.',
  },
  {
    id: 'R267',
    section: 'Limits / Rate limits',
    description: 'A request that was refused with 429 has no effect.',
  },
  {
    id: 'R268',
    section: 'Limits / Rate limits',
    description:
      'A client that retries a 429 twice passes two refusals and not three, and refusals without `Retry-After` can be produced.',
  },
  {
    id: 'R269',
    section: 'Limits / Batch predictions',
    description: 'A batch has 1 to 5,000 items; none, 5,001 or something that is no array is refused.',
  },
  {
    id: 'R270',
    section: 'Limits / Batch predictions',
    description:
      'A batch body may have 104,857,600 bytes after decoding and not one more, however it is transferred.',
  },
  {
    id: 'R271',
    section: 'Limits / Batch predictions',
    description: 'A `custom_id` has at most 128 characters and appears once in a batch, compared exactly.',
  },
  {
    id: 'R272',
    section: 'Limits / Batch predictions',
    description: "An item's `page` counts from 1 and is valid for a file of a paged format only.",
  },
  {
    id: 'R273',
    section: 'Limits / Batch predictions',
    description:
      '`metadata` has at most 16 entries, with keys up to 64 and string values up to 512 characters.',
  },
  {
    id: 'R274',
    section: 'Limits / Batch predictions',
    description:
      'The seven unsupported keywords are refused wherever a schema may stand, but not as property names or inside plain values.',
  },
  {
    id: 'R275',
    section: 'Limits / Batch predictions',
    description: 'The completion window can be neither shortened nor extended by a request.',
  },
  {
    id: 'R276',
    section: 'Limits / Batch predictions',
    description:
      'The same key with the same body replays the original status and body and makes no second batch.',
  },
  {
    id: 'R277',
    section: 'Limits / Batch predictions',
    description:
      'The same key with another body is refused as a problem, after which the original body still replays.',
  },
  {
    id: 'R278',
    section: 'Limits / Batch predictions',
    description: 'A key is forgotten exactly 24 hours after its first use, also across a restart.',
  },
  {
    id: 'R279',
    section: 'Limits / Batch predictions',
    description: 'Simultaneous first uses of one key create one batch between them.',
  },
  {
    id: 'R280',
    section: 'Limits / Batch predictions',
    description: 'A create that was acknowledged survives a crash together with its idempotency record.',
  },
  {
    id: 'R281',
    section: 'Limits / Batch predictions',
    description: 'Results may be cleaned up from 29 days after the batch was created, whenever it ended.',
  },
  {
    id: 'R282',
    section: 'Limits / Batch predictions',
    description: 'A null `results_url` and the 410 of the results begin together.',
  },
  {
    id: 'R283',
    section: 'Limits / Batch predictions',
    description: 'Neither cleanup nor the passing of time removes the metadata of a terminal batch.',
  },
  {
    id: 'R284',
    section: 'Limits / Field and parameter bounds',
    description:
      'Every row of the table of bounds holds on every way in: API, starting data and control API.',
  },
  {
    id: 'R285',
    section: 'Versioning',
    description: 'The version of the interface is chosen by the path segment `/v1` alone.',
  },
  {
    id: 'R286',
    section: 'Versioning',
    description: 'Banner, control API and OpenAPI document state `0.1.1` as the version of the contract.',
  },
  {
    id: 'R287',
    section: 'Versioning',
    description: 'The OpenAPI document marks the MCP server endpoints as beta.',
  },
  {
    id: 'R288',
    section: 'Versioning',
    description: 'The deprecated `statusCode` is still sent by default and is marked for removal.',
  },
  {
    id: 'R289',
    section: 'Versioning',
    description: 'Every configured deprecated model id is accepted and runs as the lite-tier model.',
  },
  {
    id: 'R290',
    section: 'Versioning',
    description:
      'Message content blocks of type `json` or of an unknown type pass through the read endpoints unaltered.',
  },
  {
    id: 'R291',
    section: 'Versioning',
    description: '`knowledge_ids` given to converse and search reach the answering stub unaltered.',
  },
  {
    id: 'R292',
    section: 'Versioning',
    description:
      'Citation sources keep their `fields`, `status` and `item_type` on the way from fixture to client.',
  },
  {
    id: 'R293',
    section: 'Versioning',
    description: 'The emulator adds no default model to agents or converse calls.',
  },
  {
    id: 'R294',
    section: 'Versioning',
    description:
      'Deleting a root conversation is a 400 for standard channels and chats as well as for direct messages.',
  },
  {
    id: 'R295',
    section: 'Across all sections',
    description:
      'After any mixture of valid, invalid, simultaneous and interrupted requests all invariants of batches, tokens, keys and windows hold.',
  },
  {
    id: 'R296',
    section: 'Across all sections',
    description:
      'Same seed, same clock and same requests give the same responses and the same state, byte for byte.',
  },
] as const satisfies readonly Requirement[]
