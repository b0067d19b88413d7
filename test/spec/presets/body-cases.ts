import { type PresetCase, USERS } from './preset-case.ts'
import type { Subject } from './setup.ts'
import { parse } from './views.ts'

/** Reads a list twice, and again without the rule; `extract` selects the parts of the first response to compare. */
function body(
  preset: string,
  extract: (text: string, headers: Readonly<Record<string, string>>) => unknown,
  expected: object,
  status = 200,
): PresetCase {
  return {
    preset,
    run: async (subject) => {
      await subject.arm(preset)
      const first = await subject.call('GET', USERS)
      const again = await subject.call('GET', USERS)
      await subject.clear()
      const then = await subject.call('GET', USERS)
      return {
        status: first.status,
        again: again.body === first.body,
        seen: extract(first.body ?? '(none)', first.headers),
        then: parse(then.body)?.object,
      }
    },
    expected: { status, again: true, seen: expected, then: 'list' },
  }
}

/** Polls a batch once, and again without the rule. */
function poll(
  preset: string,
  extract: (batch: Record<string, unknown>, text: string) => unknown,
  expected: unknown,
): PresetCase {
  return {
    preset,
    run: async (subject: Subject) => {
      const id = await subject.finished()
      await subject.arm(preset)
      const first = await subject.call('GET', `/batch-predictions/${id}`)
      await subject.clear()
      const second = await subject.call('GET', `/batch-predictions/${id}`)
      return { seen: extract(parse(first.body), first.body ?? ''), then: parse(second.body)?.status }
    },
    expected: { seen: expected, then: 'completed' },
  }
}

const type = (headers: Readonly<Record<string, string>>): string | undefined =>
  headers['content-type']?.split(';')[0]
const length = (text: string, headers: Readonly<Record<string, string>>) =>
  Number(headers['content-length']) === Buffer.byteLength(text)

const page = (text: string, headers: Readonly<Record<string, string>>) => ({
  html: /<html/i.test(text),
  type: type(headers),
  limit: headers['x-ratelimit-limit'] ?? null,
})
const PAGE = { html: true, type: 'text/html', limit: null }

export const bodyCases: readonly PresetCase[] = [
  body('empty-json-body', (text, headers) => ({ text, type: type(headers) }), {
    text: '',
    type: 'application/json',
  }),
  body('html-error-page', page, PAGE, 502),
  body('html-with-200', page, PAGE),
  body('malformed-json', (text, headers) => ({ json: parse(text) !== undefined, type: type(headers) }), {
    json: false,
    type: 'application/json',
  }),
  body(
    'truncated-json',
    (text, headers) => ({
      json: parse(text) !== undefined,
      begins: text.slice(0, 10),
      length: length(text, headers),
    }),
    { json: false, begins: '{"object":', length: true },
  ),
  {
    preset: 'byte-order-mark',
    run: async (subject) => {
      await subject.arm('byte-order-mark')
      const { text } = await subject.raw('GET', USERS)
      return text.slice(text.indexOf('\r\n\r\n') + 4).slice(0, 4)
    },
    expected: '\u00ef\u00bb\u00bf{',
  },
  body('unknown-field', (text) => parse(text)?.added_in_a_later_version, { enabled: true }),
  body('tomorrow', (text, headers) => [typeof parse(text)?.next_generation, headers['x-next']], [
    'object',
    '1',
  ]),
  body('null-for-array', (text) => ({ data: parse(text)?.data }), { data: null }),
  poll('unknown-enum', ({ status }) => status, 'reconciling'),
  {
    preset: 'unknown-terminal-status',
    run: async (subject) => {
      const id = await subject.batch()
      await subject.arm('unknown-terminal-status')
      const seen = [
        await subject.call('GET', `/batch-predictions/${id}`),
        await subject.call('GET', `/batch-predictions/${id}`),
      ]
      const results = await subject.call('GET', `/batch-predictions/${id}/results`)
      await subject.clear()
      const then = await subject.call('GET', `/batch-predictions/${id}`)
      return {
        seen: seen.map(({ body }) => parse(body).status),
        results: results.status,
        then: parse(then.body).status,
      }
    },
    expected: { seen: ['superseded', 'superseded'], results: 200, then: 'completed' },
  },
  poll(
    'unsafe-integer',
    ({ request_counts }, text) => [
      /"total":(\d+)/.exec(text)?.[1],
      (request_counts as { total: number }).total,
    ],
    // A double holds the even number next to it.
    ['9007199254740993', 9_007_199_254_740_992],
  ),
  poll(
    'missing-optional',
    (batch) => ['id', 'metadata', 'error', 'results_url'].filter((name) => name in batch),
    ['id'],
  ),
]
