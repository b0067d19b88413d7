import { expect } from 'vitest'
import { once } from '../../src/core/once.ts'
import { type Entry, recordTraffic } from '../real-service/record.ts'

/** Everything that the service answered. */
export const answered = once(async () => (await recordTraffic()).entries)

/** No list of data views, which are in another order than other lists, apart from one with a single item. */
export const hasUsualOrder = ({ request }: Entry) => !/data-views\?offset=[03]/.test(request.url)

/** What the service answers to paths that the document has, without the field that only one answer has. */
export function withoutBugs(entries: readonly Entry[]): Entry[] {
  const known = entries.filter(({ request }) => !/\/knowledge|\/conversations\/./.test(request.url))
  const made = known.filter(({ request }) => request.method === 'POST' && /teamspaces$/.test(request.url))
  expect(made).not.toEqual([])
  return known.map((entry) => {
    if (!made.includes(entry)) return entry
    const { plan: _, ...body } = JSON.parse(entry.response.content.text ?? '')
    const content = { ...entry.response.content, text: JSON.stringify(body) }
    return { ...entry, response: { ...entry.response, content } }
  })
}
