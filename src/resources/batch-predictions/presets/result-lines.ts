import type { Preset } from '../../../core/faults/preset.ts'
import type { Action } from '../../../core/faults/primitive.ts'
import type { When } from '../../../core/faults/rule.ts'

function results(name: string, description: string, actions: readonly Action[], when: When = {}): Preset {
  const match = { operation: 'batch-predictions.results' }
  return { name: `ndjson-${name}`, family: 'ndjson', description, match, when, do: actions }
}

// Anyone who reads again gets all of it.
const FIRST_READ = { nth: 1, by: 'resource_id' } as const

const IN_SECOND_LINE = { line: 1, plus_bytes: 10 }

/** Everything that can go wrong with a stream of results. Specification: Download batch prediction results. */
export const resultLinePresets: readonly Preset[] = [
  results(
    'line-split',
    'Pieces of 37 bytes, 5 ms apart, so that lines are split anywhere; at most five seconds of it.',
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
  results('blank-lines', 'Blank lines in front, between the first two results, and behind the second.', [
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
    'The last line lacks its end, and nothing else tells.',
    [{ lines: { truncate: { fraction: 1, plus_bytes: -8 } } }],
    FIRST_READ,
  ),
  results(
    'truncated-at-newline',
    'Only the first line comes, whole, and nothing tells that more were there.',
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
    'Nothing more comes from inside the second line on, and the connection stays open.',
    [{ pace: { stall_at: IN_SECOND_LINE } }],
    FIRST_READ,
  ),
  results('out-of-order', 'The lines come in reverse.', [{ lines: { order: 'reverse' } }]),
  results('duplicate-line', 'The first line comes twice.', [{ lines: { dup: [0] } }]),
]
