import { expect } from 'vitest'

/** A HAR document of the emulator. */
export interface Har {
  readonly log: { readonly entries: HarEntry[] }
}

interface HarEntry {
  readonly _operation: string
  readonly request: { readonly method: string; url: string; headers: Header[]; postData?: { text?: string } }
  readonly response: {
    status: number
    headers: Header[]
    content: { text?: string; encoding?: string; size: number; mimeType: string }
  }
}

interface Header {
  readonly name: string
  readonly value: string
}

/** Changes a recording. */
type Change = (har: Har) => void

/** The entries of the operations that begin with a text, with a status or with any. */
export function entriesOf(har: Har, operation: string, status?: number): HarEntry[] {
  const found = har.log.entries.filter(
    ({ _operation, response }) =>
      _operation.startsWith(operation) && (status === undefined || response.status === status),
  )
  expect(found, `${operation} ${status} is in the recording`).not.toEqual([])
  return found
}

function eachOf(operation: string, status: number | undefined, change: (entry: HarEntry) => void): Change {
  return (har) => {
    for (const entry of entriesOf(har, operation, status)) change(entry)
  }
}

/** Sets fields of response bodies, and removes those that are undefined. */
function body(operation: string, status: number, fields: object | ((body: never) => object)): Change {
  return eachOf(operation, status, ({ response }) => {
    const value = JSON.parse(response.content.text ?? '')
    const set = typeof fields === 'function' ? fields(value as never) : fields
    response.content.text = JSON.stringify({ ...value, ...set })
  })
}

function status(operation: string, from: number, to: number): Change {
  return eachOf(operation, from, ({ response }) => {
    response.status = to
  })
}

/** Sets a response header; undefined removes it. */
function header(operation: string, from: number | undefined, name: string, value?: string): Change {
  return eachOf(operation, from, ({ response }) => {
    const others = response.headers.filter((each) => each.name.toLowerCase() !== name.toLowerCase())
    response.headers = value === undefined ? others : [...others, { name, value }]
  })
}

function all(...changes: readonly Change[]): Change {
  return (har) => {
    for (const change of changes) change(har)
  }
}

/** Changes the text of the newest response that fits. */
function newest(operation: string, from: RegExp, to: string): Change {
  return (har) => {
    const fitting = entriesOf(har, operation, 200).filter(({ response }) =>
      response.content.text?.match(from),
    )
    const content = fitting.at(-1)?.response.content
    expect(content?.text).toMatch(from)
    if (content?.text !== undefined) content.text = content.text.replace(from, to)
  }
}

const otherNames = eachOf('batch-predictions.create', undefined, ({ request }) => {
  const text = request.postData?.text
    ?.replaceAll('"items"', '"documents"')
    .replaceAll('"file_id"', '"document"')
  request.postData = { text: text ?? '' }
})

const vendorWord = ({ data }: { data: { warehouse_dataset_name: string }[] }) => ({
  data: data.map(({ warehouse_dataset_name: lake_dataset_name, ...rest }) => ({
    ...rest,
    lake_dataset_name,
  })),
})

const withoutStatusCode = all(
  body('pages.create', 400, { statusCode: undefined }),
  body('pages.create', 429, { statusCode: undefined }),
  body('data-views.list', 401, { statusCode: undefined }),
)

const ownTypes = ({ type }: { type: string }) => ({
  type: type.replace(/.*(?=\/)/, 'https://errors.example'),
})

/** A change of a clean recording, the differences that it must give, and the settings with which they go away. */
export interface HarChange {
  readonly name: string
  readonly change: Change
  readonly differences: readonly string[]
  /** Absent where no setting helps. */
  readonly settings?: Readonly<Record<string, unknown>>
}

const BATCH = '/batch-predictions/{batch_prediction_id}'

export const harChanges: readonly HarChange[] = [
  {
    name: 'all creations and actions have the status 201',
    change: all(
      ...[
        'batch-predictions.create',
        'batch-predictions.cancel',
        'pages',
        'teamspaces.create',
        'skills',
        'connections',
        'agents.claim',
        'mcp-servers.oauth',
      ].map((each) => status(each, 200, 201)),
    ),
    differences: ['POST /batch-predictions: status success.create: 201 instead of 200 (in 13 entries)'],
    settings: { 'success.create': 201 },
  },
  {
    name: 'deletions have the status 200 and an empty object',
    change: all(
      ...['teamspace-users.delete', 'automations.delete'].flatMap((each) => [
        eachOf(each, 204, ({ response }) => {
          response.content.text = '{}'
        }),
        header(each, 204, 'Content-Type', 'application/json'),
        status(each, 204, 200),
      ]),
    ),
    differences: [
      'DELETE /organization/teamspaces/{teamspace_id}/users/{user_id}: status success.delete: 200 instead of 204 (in 2 entries)',
    ],
    settings: { 'success.delete': 200 },
  },
  {
    name: 'feedback has the status 200',
    change: status('messages.feedback', 204, 200),
    differences: ['POST /conversations/{conversation_id}/messages/{message_id}: status: 200 instead of 204'],
  },
  {
    name: 'a validation error has the status 422',
    change: all(
      body('pages.create', 400, { status_code: 422, statusCode: 422 }),
      status('pages.create', 400, 422),
    ),
    differences: ['POST /pages: status status.validation: 422 instead of 400'],
    settings: { 'status.validation': 422 },
  },
  {
    name: 'an error has a status that the contract does not have',
    change: all(
      body('batch-predictions.retrieve', 404, { status: 418, type: 'about:blank' }),
      status('batch-predictions.retrieve', 404, 418),
    ),
    differences: [`GET ${BATCH}: status: 418 instead of 401 or 403 or 404 or 429`],
  },
  {
    name: 'an error has another word',
    change: body('data-views.list', 401, { error: 'invalid_token' }),
    differences: ['GET /data-views: setting errors.codes: {"unauthorized":"invalid_token"} instead of {}'],
    settings: { 'errors.codes': { unauthorized: 'invalid_token' } },
  },
  {
    name: 'an error has no message',
    change: body('pages.create', 400, { message: undefined }),
    differences: ['POST /pages: error body /message: is required'],
  },
  {
    name: 'an error body has another status than the response',
    change: body('pages.create', 400, { status_code: 422 }),
    differences: ['POST /pages: error body /status_code: must be 400'],
  },
  {
    name: 'errors have no statusCode',
    change: withoutStatusCode,
    differences: [
      'GET /data-views: setting errors.deprecated_status_code: false instead of true (in 3 entries)',
    ],
    settings: { 'errors.deprecated_status_code': false },
  },
  {
    name: 'the types of problems have another address',
    change: all(
      body('batch-predictions.retrieve', 404, ownTypes),
      body('batch-predictions.create', 409, ownTypes),
      body('batch-predictions.cancel', 409, ownTypes),
    ),
    differences: [
      `POST ${BATCH}/cancel: setting errors.type_base: "https://errors.example" instead of "{emulator}/problems" (in 3 entries)`,
    ],
    settings: { 'errors.type_base': 'https://errors.example' },
  },
  {
    name: 'a problem has the type of plain JSON',
    change: header('batch-predictions.retrieve', 404, 'Content-Type', 'application/json'),
    differences: [`GET ${BATCH}: header Content-Type: is not application/problem+json`],
  },
  {
    name: 'no response has X-RateLimit-Remaining',
    change: header('', undefined, 'X-RateLimit-Remaining'),
    differences: ['POST /batch-predictions: header X-RateLimit-Remaining: is missing (in 34 entries)'],
  },
  {
    name: 'X-RateLimit-Reset is a date',
    change: header('data-views.list', 200, 'X-RateLimit-Reset', 'Sun, 01 Mar 2026 12:00:00 GMT'),
    differences: ['GET /data-views: header X-RateLimit-Reset: is not a whole number'],
  },
  {
    name: 'an operation has another limit',
    change: header('data-views.list', undefined, 'X-RateLimit-Limit', '50'),
    differences: [
      'GET /data-views: setting limits.overrides: [{"operation":"data-views.list","limit":50,"window_s":60}] instead of [] (in 2 entries)',
    ],
    settings: { 'limits.overrides': [{ operation: 'data-views.list', limit: 50, window_s: 60 }] },
  },
  {
    name: 'a 429 has no Retry-After',
    change: header('pages.create', 429, 'Retry-After'),
    differences: ['POST /pages: header Retry-After: is missing'],
  },
  {
    name: 'Retry-After is present although requests remain',
    change: header('skills.promote', 200, 'Retry-After', '3'),
    differences: [
      'POST /skills/{skill_id}/promote: header Retry-After: is present, although requests remain',
    ],
  },
  {
    name: 'a 401 has no WWW-Authenticate',
    change: header('data-views.list', 401, 'WWW-Authenticate'),
    differences: ['GET /data-views: header WWW-Authenticate: is missing'],
  },
  {
    name: 'pages have no id',
    change: body('pages.create', 200, { id: undefined }),
    differences: ['POST /pages: body /id: is required'],
  },
  {
    name: 'a skill has no field object',
    change: body('skills.promote', 200, { object: undefined }),
    differences: ['POST /skills/{skill_id}/promote: body /object: is required'],
  },
  {
    name: 'a text is null',
    change: body('skills.promote', 200, { name: null }),
    differences: ['POST /skills/{skill_id}/promote: body /name: must be of the type string, not null'],
  },
  {
    name: 'a body has a further field',
    change: body('skills.promote', 200, { owner: 'x' }),
    differences: ['POST /skills/{skill_id}/promote: body /owner: is not a known field'],
  },
  {
    name: 'a field has a word that the contract does not have',
    change: body('teamspaces.update', 200, { access: 'hidden' }),
    differences: [
      'PATCH /organization/teamspaces/{teamspace_id}: body /access: must be one of "open", "closed"',
    ],
  },
  {
    name: 'a timestamp has no zone',
    change: body('teamspaces.create', 200, { created_at: '2026-01-01T00:00:00' }),
    differences: [
      'POST /organization/teamspaces: body /created_at: must be an ISO 8601 date-time with a zone, such as 2025-01-31T09:30:00.000Z',
    ],
  },
  {
    name: 'a page without a parent shows null',
    change: body('pages.create', 200, { parent: null }),
    differences: [
      'POST /pages: setting page.parent.missing: "null" instead of "omit"',
      'POST /pages: body /parent: must be an object',
    ],
    settings: { 'page.parent.missing': 'null' },
  },
  {
    name: 'the list of MCP servers has no has_more',
    change: body('mcp-servers.list', 200, { has_more: undefined }),
    differences: [
      'GET /organization/mcp-servers: setting mcp.list.has_more: "absent" instead of "present"',
      'GET /organization/mcp-servers: body /has_more: is required',
    ],
    settings: { 'mcp.list.has_more': 'absent' },
  },
  {
    name: 'data views have the word of a vendor',
    change: body('data-views.list', 200, vendorWord),
    differences: [
      'GET /data-views: setting names.warehouse: "lake" instead of "warehouse"',
      'GET /data-views: body /data/0/warehouse_dataset_name: is required',
      'GET /data-views: body /data/0/lake_dataset_name: is not a known field',
    ],
    settings: { 'names.warehouse': 'lake' },
  },
  {
    name: 'batches are created with other names',
    change: otherNames,
    differences: [
      'POST /batch-predictions: setting batch.names.items: "documents" instead of "items" (in 6 entries)',
      'POST /batch-predictions: setting batch.names.file_ref: "document" instead of "file_id" (in 6 entries)',
      'POST /batch-predictions: request body /items: is required (in 6 entries)',
    ],
    settings: { 'batch.names.items': 'documents', 'batch.names.file_ref': 'document' },
  },
  {
    name: 'a finalizing batch is cancelling in the next poll',
    change: newest('batch-predictions.retrieve', /"completed"/, '"cancelling"'),
    differences: [`GET ${BATCH}: transition: finalizing in entry 39 does not lead to cancelling`],
  },
  {
    name: 'a cancel changes nothing',
    change: body('batch-predictions.cancel', 200, { status: 'validating' }),
    differences: [`POST ${BATCH}/cancel: transition: validating after cancel, instead of cancelling`],
  },
  {
    name: 'a creation with a known Idempotency-Key gives another batch',
    change: (har) => {
      const keyed = entriesOf(har, 'batch-predictions.create', 200).filter(({ request }) =>
        request.headers.some(({ name }) => name === 'idempotency-key'),
      )
      const content = keyed[1]?.response.content
      if (content !== undefined) content.text = content.text?.replace(/"id":"\w+"/, '"id":"other"') ?? ''
    },
    differences: [
      'POST /batch-predictions: Idempotency-Key of entry 34: not the first response for the same body',
    ],
  },
]
