import type { Preset } from '../../core/faults/preset.ts'
import type { Action } from '../../core/faults/primitive.ts'
import { inFamily } from './traffic.ts'

const body = inFamily('body')
const batchBody = inFamily('body', { match: { operation: 'batch-predictions.retrieve' } })

/** Bodies that a parser does not expect. The request takes effect, unless the description says otherwise. */
export const bodies: readonly Preset[] = [
  body('empty-json-body', 'A success with the Content-Type of JSON, but without a body.', [
    { body: { text: '', type: 'application/json; charset=utf-8' } },
  ]),
  body('html-error-page', 'A 502 with an HTML page, as from a proxy; the request has no effect.', [
    { respond: { status: 502, proxy: true, body: '' } },
    { body: { fixture: 'html-error' } },
  ]),
  body('html-with-200', 'A 200 with a login page, as from a captive portal; the request has no effect.', [
    { respond: { status: 200, proxy: true, body: '' } },
    { body: { fixture: 'html-login' } },
  ]),
  body('malformed-json', 'A JSON body with a syntax error.', [
    { body: { text: '{"object": "list", "data": [,]}', type: 'application/json; charset=utf-8' } },
  ]),
  body('truncated-json', 'Half of the JSON, with the Content-Length of that half.', [
    { body: { truncate: { fraction: 0.5 } } },
  ]),
  body('byte-order-mark', 'A byte order mark in front of the JSON.', [{ body: { prefix_b64: '77u/' } }]),
  body('unknown-field', 'An object with a field that the client does not know.', [
    { body: { patch: { added_in_a_later_version: { enabled: true } } } },
  ]),
  body('tomorrow', 'A response as a later version of the service may send it.', [{ tomorrow: {} }]),
  body('null-for-array', 'A list whose data is null instead of an array.', [{ body: { nulls: ['/data'] } }], {
    match: { operation: 'teamspace-users.list' },
  }),
  batchBody('unknown-enum', 'A batch has a status that the client does not know.', [
    { body: { patch: { status: 'reconciling' } } },
  ]),
  batchBody(
    'unknown-terminal-status',
    'The next poll completes a batch, and every poll shows a final status that the client does not know: superseded.',
    [{ state: { batch: 'complete' } }, { body: { patch: { status: 'superseded' } } }],
  ),
  batchBody(
    'unsafe-integer',
    'A batch has a number of items above 2^53, which a double cannot hold: 9007199254740993.',
    [{ body: { raw_number: { pointer: '/request_counts/total', digits: '9007199254740993' } } }],
  ),
  batchBody('missing-optional', 'A batch without its fields metadata, error and results_url.', [
    { body: { patch: { metadata: null, error: null, results_url: null } } },
  ]),
]

const results = inFamily('ndjson', { match: { operation: 'batch-predictions.results' }, times: 1 })

// Only the first read fails: a client that reads again gets all results.
const FIRST_READ = { when: { nth: 1, by: 'resource_id' } } as const

const IN_SECOND_LINE = { line: 1, plus_bytes: 10 }

/** Faults of a stream of results. Specification: Download batch prediction results. */
export const streams: readonly Preset[] = [
  results(
    'ndjson-line-split',
    'Pieces of 37 bytes, 5 ms apart, so that lines are split anywhere; for at most five seconds.',
    [{ pace: { bytes: 37, gap_ms: 5, max_ms: 5_000 } }],
  ),
  results('ndjson-utf8-split', 'Pieces end inside the characters that have several bytes.', [
    { pace: { chunks: 'inside-multibyte', gap_ms: 5, max_ms: 5_000 } },
  ]),
  results('ndjson-crlf', 'Lines end in CR and LF.', [{ lines: { eol: '\r\n' } }]),
  results('ndjson-crlf-split', 'Lines end in CR and LF, and pieces end between the two.', [
    { lines: { eol: '\r\n' } },
    { pace: { chunks: 'between-cr-lf', gap_ms: 5, max_ms: 5_000 } },
  ]),
  results('ndjson-blank-lines', 'Blank lines before the first result, after it, and after the second.', [
    {
      lines: {
        insert: [
          { at: 0, text: '' },
          { at: 1, text: '' },
          { at: 2, text: '' },
        ],
      },
    },
  ]),
  results('ndjson-no-final-newline', 'The last line does not end in a line feed.', [
    { lines: { final_newline: false } },
  ]),
  results(
    'ndjson-truncated-last-line',
    'The last line has no line break, and nothing else shows that the stream ended early.',
    [{ lines: { truncate: { fraction: 1, plus_bytes: -8 } } }],
    FIRST_READ,
  ),
  results(
    'ndjson-truncated-at-newline',
    'Only the first line is sent, complete, and nothing shows that there are more.',
    [{ lines: { truncate: { line: 1 } } }],
    FIRST_READ,
  ),
  results(
    'ndjson-abort-mid-stream',
    'The connection is reset inside the second line.',
    [{ cut: { at: IN_SECOND_LINE, how: 'rst' } }],
    FIRST_READ,
  ),
  results(
    'ndjson-stall-mid-stream',
    'The stream stops inside the second line, and the connection stays open.',
    [{ pace: { stall_at: IN_SECOND_LINE } }],
    FIRST_READ,
  ),
  results('ndjson-out-of-order', 'The lines are in reverse order.', [{ lines: { order: 'reverse' } }]),
  results('ndjson-duplicate-line', 'The first line is sent twice.', [{ lines: { dup: [0] } }]),
]

const list = inFamily('list', { match: { operation: 'teamspace-users.list' }, times: 1 })

/** Number of pages that lead back. A client that follows every cursor then gets the response to an unknown cursor. */
const LED_BACK = 10

/** A page with one invented user, whose id is the next cursor, and `has_more`. It does not depend on the cursor of the request. */
function pageOf(id: string): readonly Action[] {
  const user = { id, email: 'loop@example.com', first_name: 'Lou', last_name: 'Page' }
  const data = [{ ...user, permissions: { role: 'member', agent_ids: [] } }]
  return [{ respond: { status: 200, body: { object: 'list', data, has_more: true } } }]
}

/** After the first page, pages whose cursors lead back. @param ids the cursors, in turn */
function leadingBack(name: string, description: string, ids: readonly string[]): Preset {
  const pages = Array.from({ length: LED_BACK }, (_, n) => ids[n % ids.length] ?? '')
  return list(name, description, [], {
    when: { sequence: ['more', ...pages] },
    times: 1 + LED_BACK,
    actions: {
      more: [{ body: { patch: { has_more: true } } }],
      ...Object.fromEntries(ids.map((id) => [id, pageOf(id)])),
    },
  })
}

/** Pages that mislead a client that iterates over a list. */
export const lists: readonly Preset[] = [
  list('page-empty-has-more', 'A page without rows, but with has_more: true.', [
    { body: { patch: { data: [], has_more: true } } },
  ]),
  leadingBack(
    'page-cursor-repeated',
    'Ten pages after the first one are the same page, with the same cursor.',
    ['user-again'],
  ),
  leadingBack(
    'page-cursor-cycle',
    'Ten pages after the first one are two pages in turn, each with the cursor of the other.',
    ['user-there', 'user-back'],
  ),
  list(
    'page-cursor-deleted',
    'The user that the cursor names is deleted just before the next page is read. The page continues from its position; with the setting lists.deleted_cursor at reject it is a 400.',
    [{ state: { delete: { collection: 'users', id: { query: 'after' } } } }],
    { match: { operation: 'teamspace-users.list', query: { after: '*' } } },
  ),
  list(
    'page-rows-shift',
    'A data view is created between two pages, so that the second begins with the last row of the first.',
    [{ state: { insert_rows: { collection: 'data_views', count: 1 } } }],
    { match: { operation: 'data-views.list' }, when: { nth: 2 } },
  ),
]
