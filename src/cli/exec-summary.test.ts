import { expect, test } from 'vitest'
import { markdownOf, type Summary } from './exec-summary.ts'

const NOTHING: Summary = {
  command: ['npm', 'test'],
  exit_code: 0,
  signal: null,
  duration_ms: 2_449,
  base_url: 'http://127.0.0.1:1/v1',
  requests: 0,
  operations: [],
  faults: [],
  assumptions: [],
  conduct: { findings: [], omitted: 0 },
}

test('the summary of a command without requests asks whether it reads WORKSPACE_BASE_URL', () => {
  expect(markdownOf(NOTHING)).toBe(
    '### `npm test` ended with 0\n\nNo request came to the emulator in 2.4 s. Does the command read `WORKSPACE_BASE_URL`?\n',
  )
})

test('each part of the summary is a table, with a column for each class of status that occurs', () => {
  const text = markdownOf({
    ...NOTHING,
    exit_code: 137,
    signal: 'SIGKILL',
    requests: 5,
    operations: [
      { operation: 'pages.create', total: 4, outcomes: { '2xx': 3, '5xx': 1 } },
      { operation: null, total: 1, outcomes: { cut: 1 } },
    ],
    faults: [
      { id: 'rate-limited', fired: 3 },
      { id: 'slow', fired: 0 },
    ],
    assumptions: [{ id: 'U002', used: 3, open: 'What a <scope> is | or `is not`.' }],
  })
  expect(text).toBe(`### \`npm test\` was ended by SIGKILL (137)

5 requests to the emulator in 2.4 s.

| operation | requests | 2xx | 5xx | cut |
| --- | --- | --- | --- | --- |
| \`pages.create\` | 4 | 3 | 1 |  |
| none of the operations | 1 |  |  | 1 |

**Faults**

| rule | fired |
| --- | --- |
| \`rate-limited\` | 3 |
| \`slow\` | never |

**Assumptions that responses rely on**

| item | responses | what the specification leaves open |
| --- | --- | --- |
| U002 | 3 | What a \\<scope\\> is \\| or \\\`is not\\\`. |
`)
})

test('names with line breaks, bars or backticks cannot break the Markdown of the summary', () => {
  const text = markdownOf({
    ...NOTHING,
    command: ['sh', '-c', 'a | b\n# c `d` ``e``', 'x'.repeat(1_000)],
    faults: [{ id: '`|\n', fired: 1 }],
  })
  const [title = ''] = text.split('\n')
  expect(title).toMatch(/^### `sh -c a \| b\\n# c 'd' ''e'' x+\.\.\.` ended with 0$/)
  expect(title.length).toBeLessThan(260)
  expect(text).toContain("| `'\\|\\n` | 1 |\n")
})

test('an address in a reason is no link: its emulator has ended', () => {
  const refusals = [{ line: 'GET /v1/a  404  r1', reasons: ['See http://127.0.0.1:1/a.', 'Use b.'] }]
  const row = '| `GET /v1/a  404  r1` | See http\\://127.0.0.1:1/a. Use b. |'
  expect(markdownOf({ ...NOTHING, refusals })).toContain(row)
})

test('long tables are cut, and their last line has the number of the other rows', () => {
  const faults = Array.from({ length: 120 }, (_, n) => ({ id: `f${n}`, fired: 1 }))
  const assumptions = Array.from({ length: 11 }, (_, n) => ({ id: `U${n}`, used: 1, open: 'Something.' }))
  const text = markdownOf({ ...NOTHING, faults, assumptions })
  expect([text.match(/`f\d+`/g)?.length, text.match(/U\d+/g)?.length]).toEqual([50, 10])
  expect(text).toMatch(/\nand 70 more\n[\s\S]*\nand 1 more\n$/)
})

test('errors and warnings about the conduct of the clients are a table, notes are not', () => {
  const message = 'It waited 1 s instead of 60 s | "quoted".'
  const about = { message, requests: ['w1-000001'], evidence: {}, section: 'Limits', fix: 'Wait.' }
  const finding = { code: 'wait.too-short', severity: 'error', sandbox: 'w1', ...about } as const
  const findings = [finding, { ...finding, code: 'herd.lockstep', severity: 'note' } as const]
  const text = markdownOf({ ...NOTHING, conduct: { findings, omitted: 0 } })
  expect(text).toContain('**Conduct of the clients: 1 error**')
  expect(text).toContain('| `wait.too-short` | error | `w1` | It waited 1 s instead of 60 s \\| "quoted". |')
  expect(text).not.toContain('herd.lockstep')
})
