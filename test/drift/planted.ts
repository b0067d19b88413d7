import { expect, test } from 'vitest'
import { once } from '../../src/core/once.ts'
import { type Entry, fewOf, harOf, recordTraffic } from '../real-service/record.ts'
import { driftOf, findingTexts, type Wrap, withBug } from './recorded.ts'

type Fields = Record<string, unknown>

/** Everything that the service answered. */
export const answered = once(async () => (await recordTraffic()).entries)

/** A part without a bug of the service, and the settings that it shows. */
const prepared = once(async () => {
  const part = fewOf(withoutBugs(await answered()).filter(hasUsualOrder))
  const { settings } = await driftOf(harOf(part))
  return { part, settings }
})

/** No list of data views, which are in another order than other lists, apart from one with a single item. */
export const hasUsualOrder = ({ request }: Entry) => !/data-views\?offset=[03]/.test(request.url)

/** What the service answers to paths that the document has, without the field that only one answer has. */
export function withoutBugs(entries: readonly Entry[]): Entry[] {
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

const field = (method: string, path: RegExp, set: Fields) =>
  [method, path, (body: Fields) => ({ ...body, ...set })] as const

/** Ten differences from the document, each with the text of its only finding. The emulator has them as bugs, or the service. */
export const planted: readonly (readonly [
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

/** Tests of differences that only the emulator has, and of those that only the service has. */
export function testPlanted(cases: typeof planted): void {
  // The first of them may have to record and to look for settings.
  test.each(cases)(
    '%s: in the emulator, it is its fault',
    { timeout: 120_000 },
    async (_, method, path, change, finding) => {
      const { part, settings } = await prepared()
      const bug: Wrap = withBug(method, path, (answer) => {
        if (answer.status < 300) answer.body = change(answer.body as Fields)
      })
      const texts = findingTexts(await driftOf(harOf(part), { settings, send: bug }))
      expect(texts).toEqual([expect.stringMatching(/^emulator /)])
      expect(texts[0]).toContain(finding)
    },
  )

  test.each(cases)(
    '%s: in the answers of the service, it is its fault',
    async (_, method, path, change, finding) => {
      const { part, settings } = await prepared()
      const texts = findingTexts(await driftOf(harOf(changed(part, method, path, change)), { settings }))
      expect(texts).toEqual([expect.stringMatching(/^contract /)])
      expect(texts[0]).toContain(finding)
    },
  )
}
