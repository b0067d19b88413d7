import { armed, type PresetCase, USERS } from './preset-case.ts'
import { parse } from './views.ts'

type Headers = Readonly<Record<string, string>>

/** Reads a list twice, and again without the rule; `extract` selects the parts of the first response to compare. */
function body(
  preset: string,
  extract: (text: string, headers: Headers) => unknown,
  expected: unknown,
  status = 200,
): PresetCase {
  return armed(
    preset,
    async ({ get, read, clear }) => {
      const [first, again] = [await get(USERS), await get(USERS)]
      await clear()
      return {
        status: first.status,
        again: again.body === first.body,
        seen: extract(first.body ?? '(none)', first.headers),
        then: (await read(USERS))?.object,
      }
    },
    { status, again: true, seen: expected, then: 'list' },
  )
}

/** Polls a finished batch once, and again without the rule. */
function poll(
  preset: string,
  extract: (batch: Record<string, unknown>, text: string) => unknown,
  expected: unknown,
): PresetCase {
  return {
    preset,
    run: async ({ finished, arm, get, read, clear }) => {
      const path = `/batch-predictions/${await finished()}`
      await arm(preset)
      const { body = '' } = await get(path)
      await clear()
      return [extract(parse(body), body), (await read(path)).status]
    },
    expected: [expected, 'completed'],
  }
}

const type = (headers: Headers) => headers['content-type']?.split(';')[0]
const page = (text: string, headers: Headers) => [
  /<html/i.test(text),
  type(headers),
  headers['x-ratelimit-limit'],
]
const PAGE = [true, 'text/html', undefined]
const json = 'application/json'

export const bodyCases: readonly PresetCase[] = [
  body('empty-json-body', (text, headers) => [text, type(headers)], ['', json]),
  body('html-error-page', page, PAGE, 502),
  body('html-with-200', page, PAGE),
  body('malformed-json', (text, headers) => [parse(text), type(headers)], [undefined, json]),
  body(
    'truncated-json',
    (text, headers) => [parse(text), text.slice(0, 10), Number(headers['content-length']) === text.length],
    [undefined, '{"object":', true],
  ),
  armed(
    'byte-order-mark',
    async ({ raw }) => {
      const { text } = await raw('GET', USERS)
      return text.slice(text.indexOf('\r\n\r\n') + 4).slice(0, 4)
    },
    '\u00ef\u00bb\u00bf{',
  ),
  body('unknown-field', (text) => parse(text)?.added_in_a_later_version, { enabled: true }),
  body('tomorrow', (text, headers) => [typeof parse(text)?.next_generation, headers['x-next']], [
    'object',
    '1',
  ]),
  body('null-for-array', (text) => parse(text)?.data, null),
  poll('unknown-enum', ({ status }) => status, 'reconciling'),
  {
    preset: 'unknown-terminal-status',
    run: async ({ batch, arm, get, read, clear }) => {
      const path = `/batch-predictions/${await batch()}`
      await arm('unknown-terminal-status')
      const seen = [
        (await read(path)).status,
        (await read(path)).status,
        (await get(`${path}/results`)).status,
      ]
      await clear()
      return [...seen, (await read(path)).status]
    },
    expected: ['superseded', 'superseded', 200, 'completed'],
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
