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

const field = (method: string, path: RegExp, set: Fields, finding: string) =>
  [method, path, (body: Fields) => ({ ...body, ...set }), finding] as const
/** Differences from the document, each with the text of its only finding. The emulator has them as bugs, or the service. */
export const planted: readonly (readonly [
  method: string,
  path: RegExp,
  change: (body: Fields) => Fields,
  finding: string,
])[] = [
  field('POST', /\/promote/, { name: undefined }, 'body /name: is required'),
  field('POST', /\/teamspaces$/, { access: 'hidden' }, 'body /access: must be one of "open", "closed"'),
  field(
    'POST',
    /\/cancel/,
    { status: 'validating' },
    'transition: validating after cancel, instead of cancelling',
  ),
  [
    'GET',
    /\/users/,
    ({ data, ...body }) => ({ ...body, data: [...(data as Fields[]), ...(data as Fields[])] }),
    'body /data: has more items than the limit',
  ],
]

/** Tests of differences that only the emulator has, and of those that only the service has. */
export function testPlanted(cases: typeof planted): void {
  test.each(cases.map(([method, path, change, finding]) => ({ method, path, change, finding })))(
    'it is the fault of the emulator or of the service, whichever has it: $method $path $finding',
    // The first of them may have to record and to look for settings.
    { timeout: 120_000 },
    async ({ method, path, change, finding }) => {
      const { part, settings } = await prepared()
      const bug: Wrap = withBug(method, path, (answer) => {
        if (answer.status < 300) answer.body = change(answer.body as Fields)
      })
      const matching = (blame: string) => [
        expect.toSatisfy((text: string) => text.startsWith(`${blame} `) && text.includes(finding)),
      ]
      const ours = await driftOf(harOf(part), { settings, send: bug })
      expect(findingTexts(ours)).toEqual(matching('emulator'))
      const theirs = await driftOf(harOf(changed(part, method, path, change)), { settings })
      expect(findingTexts(theirs)).toEqual(matching('contract'))
    },
  )
}
