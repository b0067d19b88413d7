import type { Preset } from '../../core/faults/preset.ts'
import type { Action } from '../../core/faults/primitive.ts'
import type { When } from '../../core/faults/rule.ts'
import { anyRequest } from './traffic.ts'

const body = anyRequest('body')
const RETRIEVE = { operation: 'batch-predictions.retrieve' }

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
  {
    name: 'null-for-array',
    family: 'body',
    description: 'A list whose data is null instead of an array.',
    match: { operation: 'teamspace-users.list' },
    do: [{ body: { nulls: ['/data'] } }],
  },
  {
    name: 'unknown-enum',
    family: 'body',
    description: 'A batch has a status that the client does not know.',
    match: RETRIEVE,
    do: [{ body: { patch: { status: 'reconciling' } } }],
  },
  {
    name: 'missing-optional',
    family: 'body',
    description: 'A batch without its fields metadata, error and results_url.',
    match: RETRIEVE,
    do: [{ body: { patch: { metadata: null, error: null, results_url: null } } }],
  },
]

function results(name: string, description: string, actions: readonly Action[], when: When = {}): Preset {
  const match = { operation: 'batch-predictions.results' }
  return { name: `ndjson-${name}`, family: 'ndjson', description, match, when, times: 1, do: actions }
}

// Only the first read fails: a client that reads again gets all results.
const FIRST_READ = { nth: 1, by: 'resource_id' } as const

const IN_SECOND_LINE = { line: 1, plus_bytes: 10 }

/** Faults of a stream of results. Specification: Download batch prediction results. */
export const streams: readonly Preset[] = [
  results(
    'line-split',
    'Pieces of 37 bytes, 5 ms apart, so that lines are split anywhere; for at most five seconds.',
    [{ pace: { bytes: 37, gap_ms: 5, max_ms: 5_000 } }],
  ),
  results('utf8-split', 'Pieces end inside the characters that have several bytes.', [
    { pace: { chunks: 'inside-multibyte', gap_ms: 5, max_ms: 5_000 } },
  ]),
  results('crlf', 'Lines end in CR and LF.', [{ lines: { eol: '\r\n' } }]),
  results('crlf-split', 'Lines end in CR and LF, and pieces end between the two.', [
    { lines: { eol: '\r\n' } },
    { pace: { chunks: 'between-cr-lf', gap_ms: 5, max_ms: 5_000 } },
  ]),
  results('blank-lines', 'Blank lines before the first result, after it, and after the second.', [
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
  results('no-final-newline', 'The last line does not end in a line feed.', [
    { lines: { final_newline: false } },
  ]),
  results(
    'truncated-last-line',
    'The last line has no line break, and nothing else shows that the stream ended early.',
    [{ lines: { truncate: { fraction: 1, plus_bytes: -8 } } }],
    FIRST_READ,
  ),
  results(
    'truncated-at-newline',
    'Only the first line is sent, complete, and nothing shows that there are more.',
    [{ lines: { truncate: { line: 1 } } }],
    FIRST_READ,
  ),
  results(
    'abort-mid-stream',
    'The connection is reset inside the second line.',
    [{ cut: { at: IN_SECOND_LINE, how: 'rst' } }],
    FIRST_READ,
  ),
  results(
    'stall-mid-stream',
    'The stream stops inside the second line, and the connection stays open.',
    [{ pace: { stall_at: IN_SECOND_LINE } }],
    FIRST_READ,
  ),
  results('out-of-order', 'The lines are in reverse order.', [{ lines: { order: 'reverse' } }]),
  results('duplicate-line', 'The first line is sent twice.', [{ lines: { dup: [0] } }]),
]

/** Pages that mislead a client that iterates over a list. */
export const lists: readonly Preset[] = [
  {
    name: 'page-empty-has-more',
    family: 'list',
    description: 'A page without rows, but with has_more: true.',
    match: { operation: 'teamspace-users.list' },
    times: 1,
    do: [{ body: { patch: { data: [], has_more: true } } }],
  },
  {
    name: 'page-cursor-deleted',
    family: 'list',
    description:
      'The user that the cursor names is deleted just before the next page is read. The page resumes from its place; with the setting lists.deleted_cursor at reject it is a 400.',
    match: { operation: 'teamspace-users.list', query: { after: '*' } },
    times: 1,
    do: [{ state: { delete: { collection: 'users', id: { query: 'after' } } } }],
  },
  {
    name: 'page-rows-shift',
    family: 'list',
    description:
      'A data view is created between two pages, so that the second begins with the last row of the first.',
    match: { operation: 'data-views.list' },
    when: { nth: 2 },
    times: 1,
    do: [{ state: { insert_rows: { collection: 'data_views', count: 1 } } }],
  },
]
