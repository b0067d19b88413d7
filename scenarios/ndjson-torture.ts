import { defineScenario } from 'agent-workspace-emulator'

// Each of the first eight reads of results is broken in another way; later ones are correct. Outputs have characters of two
// to four bytes, so that a decoder fails if it handles each chunk separately.
export default defineScenario({
  description: 'Eight reads of results, each broken in a different way, then complete ones',
  outcomes: [{ output: { text: 'Brücke – 橋 – 🏗' } }],
  faults: [
    {
      id: 'torture',
      match: { operation: 'batch-predictions.results' },
      when: {
        by: 'resource_id',
        sequence: ['crlf', 'blank', 'bytes', 'open', 'twice', 'short', 'abort', 'reverse', 'pass'],
      },
      actions: {
        crlf: [{ lines: { eol: '\r\n' } }, { pace: { chunks: 'between-cr-lf', gap_ms: 5, max_ms: 2000 } }],
        blank: [
          {
            lines: {
              insert: [
                { at: 0, text: '' },
                { at: 1, text: '  ' },
              ],
            },
          },
        ],
        bytes: [{ pace: { chunks: 'inside-multibyte', gap_ms: 5, max_ms: 2000 } }],
        open: [{ lines: { final_newline: false } }],
        twice: [{ lines: { dup: [0] } }],
        short: [{ lines: { truncate: { fraction: 1, plus_bytes: -8 } } }],
        abort: [{ cut: { at: { line: 1, plus_bytes: 10 }, how: 'rst' } }],
        reverse: [{ lines: { order: 'reverse' } }],
      },
    },
  ],
})
