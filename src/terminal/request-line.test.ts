import { expect, test } from 'vitest'
import { rendered } from './print.ts'
import { type LinedRequest, requestLines } from './request-line.ts'

const request: LinedRequest = {
  id: 'default-000001',
  at: '2026-03-01T12:00:00.000Z',
  method: 'GET',
  path: '/v1/pages',
  status: 200,
  sandbox: 'default',
  ms: 1.24,
  faults: [],
}

function shown(lined: LinedRequest): string {
  return requestLines(lined)
    .map((line) => rendered(line, { colours: false }))
    .join('\n')
}

test.for<[what: string, Partial<LinedRequest>, string]>([
  ['a request', {}, '200  GET /v1/pages  1.2 ms  default-000001'],
  ['a long one', { ms: 301.6 }, '200  GET /v1/pages  302 ms  default-000001'],
  ['one without HTTP', { ms: null }, '200  GET /v1/pages  default-000001'],
  ['another sandbox', { sandbox: 'w1', id: 'w1-000001' }, '200  GET /v1/pages  @w1  1.2 ms  w1-000001'],
  ['faults', { status: 429, faults: ['a', 'b'] }, '429  GET /v1/pages  1.2 ms  fault a, b  default-000001'],
  ['a cut', { status: 0 }, 'cut  GET /v1/pages  1.2 ms  default-000001'],
  [
    'one of a page that cannot read it',
    { status: 204, cors: { origin: 'https://a.example', detail: 'It may not.', mitigation: 'Allow it.' } },
    '204  GET /v1/pages  1.2 ms  default-000001\n  It may not. Allow it.',
  ],
  ['control characters', { path: '/v1/\u001b[2J' }, '200  GET /v1/\\u001b[2J  1.2 ms  default-000001'],
])('the line of a request: %s', ([, change, line]) => {
  expect(shown({ ...request, ...change })).toBe(`2026-03-01T12:00:00.000Z  ${line}`)
})
