import { expect, test } from 'vitest'
import type { Preset } from '../../core/faults/preset.ts'
import { KeptResponse } from '../../core/log/kept-response.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import { type Conclusion, conclusionFindings, conclusionVerdicts } from './verdicts.ts'

const LINES = [
  { custom_id: 'a', status: 'succeeded', output: { text: 'süd' } },
  { custom_id: 'b', status: 'succeeded', output: { text: 'nord' } },
]
const [FIRST, SECOND] = LINES as [(typeof LINES)[0], (typeof LINES)[0]]
const FAILED = LINES.map((line) => ({ ...line, status: 'errored', output: null }))

/** A request that is over; `cut`: its response was cut. */
function request(status: number, { key, cut }: { key?: string; cut?: boolean } = {}): LogEntry {
  const entry = {
    id: 'r1',
    method: key === undefined ? 'GET' : 'POST',
    status,
    headers: { 'idempotency-key': key },
    timing: { took: 1 },
    response: new KeptResponse(status, []),
    faults: cut ? { sent: { stage: 'body', bytes: 9, end: 'cut' } } : undefined,
  }
  return entry as unknown as LogEntry
}

const faulted = (...actions: object[]) => [{ name: 'p', do: actions } as unknown as Preset]
const CRLF = faulted({ lines: { eol: '\r\n' } })
const TRUNCATED = faulted({ lines: { truncate: { line: 1 } } })
const HTML = faulted({ respond: { status: 502 } }, { body: { fixture: 'html-error' } })
const error = (kind: string, status?: number) => ({
  error: { kind, ...(status !== undefined && { status }) },
})

const concluded = (command: Conclusion['command'], ok: unknown, truth: object): Conclusion =>
  ({ command, answer: { ok }, entries: [request(200)], faults: [], truth }) as Conclusion
const batch = { id: 'b1' }

const results = concluded({ command: 'results', batch_id: 'b1' }, LINES, {
  lines: LINES,
  status: 'completed',
})
const get = concluded({ command: 'get', batch_id: 'b1' }, batch, batch)
const done = { ...batch, status: 'completed' }
const wait = concluded({ command: 'wait', batch_id: 'b1' }, done, { ...done, lines: LINES })
const list = concluded({ command: 'list_all' }, [{ id: 'u1' }, { id: 'u2' }], { ids: ['u1', 'u2'] })
const create = {
  ...concluded({ command: 'create_batch', idempotency_key: 'mine' }, LINES, {}),
  entries: [request(200, { key: 'mine' })],
}
const webhook = (isGenuine: boolean, answer: Conclusion['answer']): Conclusion => {
  return { ...get, command: { command: 'verify_webhook' }, entries: [], answer, truth: { isGenuine } }
}

/** For each verdict a conclusion that causes it, and one close to it that causes none. */
const CASES: readonly (readonly [code: string, bad: Conclusion, good: Conclusion])[] = [
  ['key.replaced', { ...create, entries: [request(200, { key: 'own' })] }, create],
  [
    'stream.framing',
    { ...results, faults: CRLF, answer: error('malformed') },
    { ...results, faults: TRUNCATED, answer: error('malformed') },
  ],
  [
    'stream.corrupted',
    { ...results, answer: { ok: [{ ...FIRST, output: { text: 's\ufffd\ufffdd' } }, SECOND] } },
    { ...results, answer: { ok: [SECOND, FIRST] } },
  ],
  [
    'stream.item-lost',
    { ...results, answer: { ok: [FIRST] } },
    { ...results, answer: { ok: [FIRST, ...LINES] } },
  ],
  [
    'stream.truncation-accepted',
    { ...results, faults: TRUNCATED, answer: { ok: [FIRST] } },
    { ...results, faults: TRUNCATED, answer: { ok: LINES } },
  ],
  [
    'job.all-failed',
    { ...wait, truth: { status: 'completed', lines: FAILED }, answer: undefined },
    { ...wait, truth: { status: 'completed', lines: FAILED } },
  ],
  [
    'job.by-index',
    { ...results, answer: { ok: [{ ...FIRST, output: SECOND.output }, SECOND] } },
    { ...results, answer: { ok: [SECOND, FIRST] } },
  ],
  [
    'error.status-hidden',
    { ...get, faults: HTML, entries: [request(502)], answer: error('malformed') },
    { ...get, faults: HTML, entries: [request(502)], answer: error('server', 502) },
  ],
  [
    'response.refused',
    { ...get, faults: faulted({ body: { patch: { later: 1 } } }), answer: error('malformed') },
    { ...get, faults: faulted({ body: { text: '' } }), answer: error('malformed') },
  ],
  ['result.wrong', { ...get, answer: { ok: null } }, get],
  ['result.wrong', { ...wait, answer: { ok: { id: 'b1', status: 'failed' } } }, wait],
  ['result.wrong', { ...list, answer: { ok: [{ id: 'u1' }] } }, list],
  [
    'client.ended',
    { ...get, entries: [request(503)], answer: undefined },
    { ...get, entries: [request(503)], answer: error('server', 503) },
  ],
  ['webhook.misjudged', webhook(true, { ok: false }), webhook(true, { ok: true })],
  ['webhook.misjudged', webhook(false, { ok: true }), webhook(false, error('invalid'))],
]

test.for(CASES)(
  '%s has a conclusion that causes it, and one close to it that does not',
  ([code, bad, good]) => {
    const codes = (conclusion: Conclusion) => conclusionFindings(conclusion).map((finding) => finding.code)
    expect(codes(bad)).toContain(code)
    expect(codes(good)).toEqual([])
  },
)

test('every verdict has such a pair', () => {
  const codes = conclusionVerdicts.map(({ code }) => code)
  expect([...new Set(CASES.map(([code]) => code))].sort()).toEqual(codes.toSorted())
})

test('a status is not hidden when the response was cut, or was not HTTP', () => {
  const failed = { ...get, answer: error('network') }
  const cut = { ...failed, entries: [request(503, { cut: true })] }
  const raw = { ...failed, entries: [request(502)], faults: faulted({ raw: { base64: '' } }) }
  expect([cut, raw].flatMap(conclusionFindings)).toEqual([])
})

test('a finding has the requests, the command and the answer as evidence', () => {
  const [finding] = conclusionFindings({ ...results, answer: { ok: [FIRST] } })
  expect(finding).toMatchObject({
    message: 'The client reported a success without 1 of 2 results: b.',
    requests: ['r1'],
    evidence: { command: 'results', answer: JSON.stringify({ ok: [FIRST] }) },
  })
})
