import { isUtf8 } from 'node:buffer'
import { expect } from 'vitest'
import { armed, type PresetCase, type Subject, USERS } from './setup.ts'
import { dechunk, parse, seen, split } from './views.ts'

type Headers = Readonly<Record<string, string>>

/** Reads a list; `extract` selects the parts of the response to compare. */
function body(
  preset: string,
  extract: (text: string, headers: Headers) => unknown,
  expected: unknown,
  status = 200,
): PresetCase {
  const run = async ({ get }: Subject) => {
    const view = await get(USERS)
    return [view.status, extract(view.body ?? '(none)', view.headers)]
  }
  return armed(preset, run, [status, expected])
}

/** Polls a finished batch. */
function poll(
  preset: string,
  extract: (batch: object, text: string) => unknown,
  expected: unknown,
): PresetCase {
  const run = async ({ batch, control, arm, get }: Subject) => {
    const id = await batch()
    await control('POST', `/batches/${id}/complete`)
    await arm(preset)
    const { body = '' } = await get(`/batch-predictions/${id}`)
    return extract(parse(body), body)
  }
  return { preset, run, expected }
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
    async ({ raw }) => split((await raw('GET', USERS)).text).body.slice(0, 4),
    '\u00ef\u00bb\u00bf{',
  ),
  body('unknown-field', (text) => parse(text)?.added_in_a_later_version, { enabled: true }),
  body('tomorrow', (text, headers) => [typeof parse(text)?.next_generation, headers['x-next']], [
    'object',
    '1',
  ]),
  body('null-for-array', (text) => parse(text)?.data, null),
  poll('unknown-enum', (batch) => batch, expect.objectContaining({ status: 'reconciling' })),
  poll('unsafe-integer', (_, text) => /"total":(\d+)/.exec(text)?.[1], '9007199254740993'),
  poll(
    'missing-optional',
    (batch) => ['id', 'metadata', 'error', 'results_url'].filter((name) => name in batch),
    ['id'],
  ),
]

/** Characters of two, three and four bytes in each line. */
const OUTPUT = { text: 'Brücke – 橋 – 🏗' }
const N = 4

/** Arms a preset, and returns the path of the results of a finished batch. */
async function armedResults({ batch, control, arm }: Subject, preset: string): Promise<string> {
  const id = await batch({ items: N, output_schema: { type: 'object' } })
  await control('PATCH', `/batches/${id}`, { outcomes: [{ output: OUTPUT }] })
  await control('POST', `/batches/${id}/complete`)
  await arm(preset)
  return `/batch-predictions/${id}/results`
}

/** The lines of a text, split at LF: the custom_id of each, or "broken". */
const read = (text = ''): string[] =>
  text.split('\n').map((line) => (line === '' ? '' : (parse(line)?.custom_id ?? 'broken')))

const ALL = ['item-0', 'item-1', 'item-2', 'item-3', '']

function lines(preset: string, extract: (text: string) => unknown, expected: unknown): PresetCase {
  const run = async (subject: Subject) => {
    const view = await subject.get(await armedResults(subject, preset))
    return [seen(view), extract(view.body ?? '')]
  }
  return { preset, run, expected: ['200', expected] }
}

/** Reads the chunks of a body. A chunk that is sent after a wait arrives separately. */
function pieces(
  preset: string,
  extract: (pieces: readonly Buffer[]) => unknown,
  expected: unknown,
): PresetCase {
  const run = async (subject: Subject) => {
    const { end, text, pieces } = await subject.raw('GET', await armedResults(subject, preset))
    const { chunks } = dechunk(split(text).body)
    const whole = Buffer.concat(chunks).toString()
    return [end, pieces.length > 1, extract(chunks), read(whole.replaceAll('\r', ''))]
  }
  return { preset, run, expected: ['fin', true, expected, ALL] }
}

/** A response that breaks off inside the second line: for a raw socket, for a client, and not the next time. */
function broken(preset: string, end: 'rst' | 'open', client: string): PresetCase {
  const untilHeld = end === 'open'
  const run = async (subject: Subject) => {
    const path = await armedResults(subject, preset)
    const wire = await subject.raw('GET', path, { untilHeld })
    await subject.control('POST', `/faults/${preset}/reset`)
    const view = await subject.call('GET', path, { untilHeld })
    const { chunks, ended } = dechunk(split(wire.text).body)
    const whole = read((await subject.get(path)).body)
    return [wire.end, ended, read(Buffer.concat(chunks).toString()).length, seen(view), whole]
  }
  return { preset, run, expected: [end, false, 2, client, ALL] }
}

const longest = (all: readonly Buffer[]) => [Math.max(...all.map(({ length }) => length)), all.length > 10]

export const lineCases: readonly PresetCase[] = [
  pieces('ndjson-line-split', longest, [37, true]),
  pieces('ndjson-utf8-split', (all) => all.filter((each) => !isUtf8(each)).length > 4, true),
  pieces('ndjson-crlf-split', (all) => all.filter((each) => each.at(-1) === 13).length, N),
  lines('ndjson-crlf', (text) => [text.split('\r\n').length - 1, /[^\r]\n/.test(text)], [N, false]),
  lines('ndjson-blank-lines', read, ['', 'item-0', '', 'item-1', '', 'item-2', 'item-3', '']),
  lines('ndjson-no-final-newline', read, ALL.slice(0, N)),
  lines('ndjson-out-of-order', read, ['item-3', 'item-2', 'item-1', 'item-0', '']),
  lines('ndjson-duplicate-line', read, ['item-0', ...ALL]),
  lines('ndjson-truncated-last-line', read, ['item-0', 'item-1', 'item-2', 'broken']),
  lines('ndjson-truncated-at-newline', read, ['item-0', '']),
  broken('ndjson-abort-mid-stream', 'rst', '200, then broken'),
  broken('ndjson-stall-mid-stream', 'open', '200, then timeout'),
]

const VIEWS = '/data-views?limit=2&offset='
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)

/** Follows the cursors of a list to a page without one; the cursor that each page names, or its status. */
function cursors(preset: string, expected: readonly string[]): PresetCase {
  const run = async ({ get }: Subject) => {
    const followed: string[] = []
    for (let after = ''; followed.length < expected.length + 2; ) {
      const view = await get(`${USERS}${after}`)
      const { data = [], has_more } = parse(view.body)
      const last = data.at(-1)?.id
      followed.push(has_more === true ? last : seen(view))
      after = `&after=${last}`
    }
    return followed
  }
  return armed(preset, run, ['user-outsider', ...expected, '400 validation_failed'])
}

export const listCases: readonly PresetCase[] = [
  cursors('page-cursor-repeated', Array(10).fill('user-again')),
  cursors('page-cursor-cycle', Array(5).fill(['user-there', 'user-back']).flat()),
  body('page-empty-has-more', (text) => parse(text), expect.objectContaining({ data: [], has_more: true })),
  armed(
    'page-cursor-deleted',
    async ({ read, call, sandbox }) => {
      const last = idsOf(await read(USERS)).at(-1) ?? ''
      const next = idsOf(await read(`${USERS}&after=${last}`))
      // A user of the first page, which the client still has, no longer exists.
      const removal = await call('DELETE', `/organization/teamspaces/ts-a/users/${last}`)
      return [next, seen(removal), sandbox.store.get('users', last)]
    },
    [['user-member'], '404 not_found', undefined],
  ),
  armed(
    'page-rows-shift',
    async ({ read }) => {
      const [first, second] = [idsOf(await read(`${VIEWS}0`)), idsOf(await read(`${VIEWS}2`))]
      return [first.at(-1) === second[0], second.length]
    },
    [true, 2],
  ),
]
