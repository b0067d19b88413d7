import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { command, temporaryFile } from '../cli/in-process.ts'
import { type Entry, fewOf, harOf, recordTraffic } from '../real-service/record.ts'
import { driftOf, expectNone, findingTexts, type Wrap, withBug } from './recorded.ts'

type Fields = Record<string, unknown>

/** Everything that the service answered. */
let all: readonly Entry[] = []

beforeAll(async () => {
  all = (await recordTraffic()).entries
})

let settings: Promise<JsonObject> | undefined

/** A part without a bug of the service, and the settings that it shows. */
async function prepared() {
  const part = fewOf(withoutBugs(all).filter(hasUsualOrder))
  settings ??= driftOf(harOf(part)).then((report) => report.settings)
  return { part, settings: await settings }
}

/** No list of data views, which are in another order than other lists, apart from one with a single item. */
const hasUsualOrder = ({ request }: Entry) => !/data-views\?offset=[03]/.test(request.url)

/** What the service answers to paths that the document has, without the field that only one answer has. */
function withoutBugs(entries: readonly Entry[]): Entry[] {
  const known = entries.filter(({ request }) => !/\/knowledge|\/conversations\/./.test(request.url))
  return changed(known, 'POST', /teamspaces$/, ({ plan: _, ...body }) => body)
}

/** The entries with other bodies in the answers to some requests. */
function changed(
  entries: readonly Entry[],
  method: string,
  path: RegExp,
  change: (body: Fields) => Fields,
): Entry[] {
  const copies = structuredClone(entries) as Entry[]
  const fitting = copies.filter(
    ({ request, response }) =>
      request.method === method && path.test(new URL(request.url).pathname) && response.status < 300,
  )
  expect(fitting).not.toEqual([])
  for (const { response } of fitting)
    response.content.text = JSON.stringify(change(JSON.parse(response.content.text || '{}')))
  return copies
}

test('the bugs of a service and its answers to open questions are found', async () => {
  const report = await driftOf(harOf(all))
  expect(findingTexts(report)).toEqual([
    'contract GET /conversations/{...}/messages: the document has no such operation',
    'contract GET /knowledge: the document has no such operation',
    'contract GET /knowledge/{...}: the document has no such operation',
    'contract POST /organization/teamspaces: body /plan: is not a known field',
    // One list is in another order than the others.
    'open lists.order',
    'open limits.overrides',
    'open names.cloud_b',
    'open teamspace.access.default',
    'open success.create',
    'open page.parent.missing',
    'open errors.deprecated_status_code',
    'open errors.codes',
    'open mcp.list.has_more',
    'open names.warehouse',
    'open names.trigger_sources',
  ])
})

test('--write-settings has the answers to ten open questions, with which nothing is left', async () => {
  const others = withoutBugs(all).filter(hasUsualOrder)
  const traffic = temporaryFile('traffic.har', harOf(others))
  const file = temporaryFile('settings.json', '{}')
  const first = await command(['drift', traffic, '--write-settings', file, '--fail-on', 'emulator', '--json'])
  const { findings } = JSON.parse(first.out)
  expect([first.code, findings.length]).toEqual([0, 10])
  const settings = JSON.parse(readFileSync(file, 'utf8'))
  expect(settings).toMatchObject({
    'success.create': 201,
    'success.overrides': {
      'skills.promote': 200,
      'batch-predictions.create': 202,
      'batch-predictions.cancel': 200,
    },
    'names.cloud_b': 'stratus',
    'names.cloud_a': 'nimbus',
  })
  expectNone(await driftOf(harOf(others), { settings }))
})

test('a list in another order than the others is an open question that no value answers', async () => {
  const { out } = await command(['drift', temporaryFile('traffic.har', harOf(withoutBugs(all)))])
  expect(out).toContain('U020 lists.order: "oldest", while other exchanges show another value: ')
})

const field = (method: string, path: RegExp, set: Fields) =>
  [method, path, (body: Fields) => ({ ...body, ...set })] as const

/** Ten differences from the document, each with the text of its only finding. The emulator has them as bugs, or the service. */
const planted: readonly (readonly [
  name: string,
  method: string,
  path: RegExp,
  change: (body: Fields) => Fields,
  finding: string,
])[] = [
  ['a field is missing', ...field('POST', /\/promote/, { name: undefined }), 'body /name: is required'],
  [
    'a field has another type',
    ...field('PATCH', /\/teamspaces\//, { name: 7 }),
    'body /name: must be of the type string, not number',
  ],
  ['a field is new', ...field('POST', /\/pages/, { extra: 1 }), 'body /extra: is not a known field'],
  [
    'an unknown word',
    ...field('POST', /\/teamspaces$/, { access: 'hidden' }),
    'body /access: must be one of "open", "closed"',
  ],
  [
    'a timestamp without a zone',
    ...field('POST', /\/promote/, { promoted_at: '2026-01-01T00:00:00' }),
    'body /promoted_at: must be an ISO 8601 date-time with a zone, such as 2025-01-31T09:30:00.000Z',
  ],
  [
    'a page with more items than its limit',
    'GET',
    /\/users/,
    ({ data, ...body }) => ({ ...body, data: [...(data as Fields[]), ...(data as Fields[])] }),
    'body /data: has more items than the limit',
  ],
  [
    'null for a value',
    ...field('PATCH', /\/event-triggers\//, { enabled: null }),
    'body /enabled: must be of the type boolean, not null',
  ],
  [
    'a field of each item is missing',
    'GET',
    /\/mcp-servers/,
    ({ data, ...body }) => ({ ...body, data: (data as Fields[]).map(({ transport: _, ...rest }) => rest) }),
    'body /data/0/transport: is required',
  ],
  [
    'a word that no object has',
    ...field('POST', /\/pages/, { object: 'sheet' }),
    'body /object: must be "page"',
  ],
  [
    'an illegal transition',
    ...field('POST', /\/cancel/, { status: 'validating' }),
    'transition: validating after cancel, instead of cancelling',
  ],
]

test('there are ten of them', () => expect(planted).toHaveLength(10))

test.each(planted)('%s: in the emulator, it is its fault', async (_, method, path, change, finding) => {
  const { part, settings } = await prepared()
  const bug: Wrap = withBug(method, path, (answer) => {
    if (answer.status < 300) answer.body = change(answer.body as Fields)
  })
  const texts = findingTexts(await driftOf(harOf(part), { settings, send: bug }))
  expect(texts).toEqual([expect.stringMatching(/^emulator /)])
  expect(texts[0]).toContain(finding)
})

test.each(planted)(
  '%s: in the answers of the service, it is its fault',
  async (_, method, path, change, finding) => {
    const { part, settings } = await prepared()
    const texts = findingTexts(await driftOf(harOf(changed(part, method, path, change)), { settings }))
    expect(texts).toEqual([expect.stringMatching(/^contract /)])
    expect(texts[0]).toContain(finding)
  },
)
