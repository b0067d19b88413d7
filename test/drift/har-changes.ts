import { expect, test } from 'vitest'
import { driftOf, expectNone, findingTexts, recorded } from './recorded.ts'

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

const ownTypes = ({ type }: { type: string }) => ({
  type: type.replace(/.*(?=\/)/, 'https://errors.example'),
})

/** A change of a clean recording, and the only finding that it must lead to. */
export interface HarChange {
  readonly finding: string
  readonly change: Change
  /** Where settings answer open questions: those that make the findings disappear. */
  readonly settings?: Readonly<Record<string, unknown>>
}

/** A change that breaks the contract. */
const breach = (finding: string, ...changes: Change[]): HarChange => ({ finding, change: all(...changes) })

/** A change that is another value of settings. */
function answer(settings: Readonly<Record<string, unknown>>, ...changes: Change[]): HarChange {
  return { finding: Object.keys(settings).join(', '), settings, change: all(...changes) }
}

const BATCH = '/batch-predictions/{batch_prediction_id}'

// The service of test/real-service gives other answers to further questions, which real-service.test.ts finds.
export const harChanges: readonly HarChange[] = [
  answer(
    { 'success.delete': 200 },
    ...['teamspace-users.delete', 'automations.delete'].flatMap((each) => [
      eachOf(each, 204, ({ response }) => {
        response.content.text = '{}'
      }),
      header(each, 204, 'Content-Type', 'application/json'),
      status(each, 204, 200),
    ]),
  ),
  breach(
    'POST /conversations/{conversation_id}/messages/{message_id}: status: 200 instead of 204',
    status('messages.feedback', 204, 200),
  ),
  answer(
    { 'status.validation': 422 },
    body('pages.create', 400, { status_code: 422, statusCode: 422 }),
    status('pages.create', 400, 422),
  ),
  breach(
    `GET ${BATCH}: status: 418 instead of 401 or 403 or 404 or 429`,
    body('batch-predictions.retrieve', 404, { status: 418, type: 'about:blank' }),
    status('batch-predictions.retrieve', 404, 418),
  ),
  breach('POST /pages: error body /message: is required', body('pages.create', 400, { message: undefined })),
  breach(
    'POST /pages: error body /status_code: must be 400',
    body('pages.create', 400, { status_code: 422 }),
  ),
  answer(
    { 'errors.type_base': 'https://errors.example' },
    body('batch-predictions.retrieve', 404, ownTypes),
    body('batch-predictions.create', 409, ownTypes),
    body('batch-predictions.cancel', 409, ownTypes),
  ),
  breach(
    `GET ${BATCH}: header Content-Type: is not application/problem+json`,
    header('batch-predictions.retrieve', 404, 'Content-Type', 'application/json'),
  ),
  breach(
    'POST /batch-predictions: header X-RateLimit-Remaining: is missing (in 34 entries)',
    header('', undefined, 'X-RateLimit-Remaining'),
  ),
  breach(
    'GET /data-views: header X-RateLimit-Reset: is not a whole number',
    header('data-views.list', 200, 'X-RateLimit-Reset', 'Sun, 01 Mar 2026 12:00:00 GMT'),
  ),
  breach('POST /pages: header Retry-After: is missing', header('pages.create', 429, 'Retry-After')),
  breach(
    'POST /skills/{skill_id}/promote: header Retry-After: is present, although requests remain',
    header('skills.promote', 200, 'Retry-After', '3'),
  ),
  breach(
    'GET /data-views: header WWW-Authenticate: is missing',
    header('data-views.list', 401, 'WWW-Authenticate'),
  ),
  breach(
    'POST /skills/{skill_id}/promote: body /name: must be of the type string, not null',
    body('skills.promote', 200, { name: null }),
  ),
  breach(
    'POST /organization/teamspaces: body /created_at: must be an ISO 8601 date-time with a zone, such as 2025-01-31T09:30:00.000Z',
    body('teamspaces.create', 200, { created_at: '2026-01-01T00:00:00' }),
  ),
  breach(
    'GET /organization/teamspaces/{teamspace_id}/users: body /data: has more items than the limit',
    eachOf('teamspace-users.list', 200, ({ request }) => {
      request.url += '?limit=1'
    }),
  ),
  answer(
    { 'batch.names.items': 'documents', 'batch.names.file_ref': 'document' },
    eachOf('batch-predictions.create', undefined, ({ request }) => {
      const { text = '' } = request.postData ?? {}
      request.postData = {
        text: text.replaceAll('"items"', '"documents"').replaceAll('"file_id"', '"document"'),
      }
    }),
  ),
  breach(
    `GET ${BATCH}: transition: finalizing in entry 39 does not lead to cancelling`,
    newest('batch-predictions.retrieve', /"completed"/, '"cancelling"'),
  ),
  breach(
    `POST ${BATCH}/cancel: transition: validating after cancel, instead of cancelling`,
    body('batch-predictions.cancel', 200, { status: 'validating' }),
  ),
  breach(
    'POST /batch-predictions: Idempotency-Key of entry 34: not the first response for the same body',
    (har) => {
      const keyed = entriesOf(har, 'batch-predictions.create', 200).filter(({ request }) =>
        request.headers.some(({ name }) => name === 'idempotency-key'),
      )
      const content = keyed[1]?.response.content
      if (content !== undefined) content.text = content.text?.replace(/"id":"\w+"/, '"id":"other"') ?? ''
    },
  ),
]

/** Tests that a change of a recording is found, and nothing else. */
export function testHarChanges(changes: typeof harChanges): void {
  test.each(changes)('a change is found: $finding', async ({ change, finding, settings }) => {
    const har = await recorded()
    change(har)
    const report = await driftOf(har)
    if (settings !== undefined) {
      const opened = Object.keys(settings).map((key) => `open ${key}`)
      expect([findingTexts(report).toSorted(), report.settings]).toEqual([opened.toSorted(), settings])
      return expectNone(await driftOf(har, { settings: settings as never }))
    }
    const texts = report.findings.map(
      ({ blame, request, detail, count }) =>
        `${blame} ${request}: ${detail}${count > 1 ? ` (in ${count} entries)` : ''}`,
    )
    expect(texts).toEqual([`contract ${finding}`])
  })
}
