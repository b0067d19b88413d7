import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { TOMORROW_KINDS, type TomorrowKind } from '../../src/core/tomorrow.ts'
import { type TestResponse, testEmulator } from '../support/emulator.ts'
import { sampleCalls, sampleRecords } from '../support/sample-calls.ts'
import { judgeOf } from './opened.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape.
type Any = any

/** A call of every operation, and errors, with one seed: at least 34. */
export async function round(seed: number, tomorrow: object | undefined) {
  const settings = (tomorrow === undefined ? {} : { tomorrow }) as JsonObject
  const emulator = await testEmulator({ seed, settings, collections: sampleRecords })
  const bad = { path: '/pages', method: 'POST', options: { json: { name: 1 } } }
  const calls = [
    ...(await sampleCalls(emulator)),
    { name: 'pages.create', ...bad },
    { name: 'batch-predictions.create', method: 'POST', path: '/batch-predictions', options: { json: {} } },
    { name: 'batch-predictions.retrieve', method: 'GET', path: '/batch-predictions/none', options: {} },
    { name: 'skills.promote', method: 'POST', path: '/skills/none/promote', options: {} },
    { name: 'data-views.list', method: 'GET', path: '/data-views', options: { key: 'none' as const } },
    // A path that no operation has: its error is the one of most of them.
    { name: 'data-views.list', method: 'GET', path: '/nowhere', options: {} },
  ]
  const responses: { name: string; response: TestResponse }[] = []
  for (const { name, method, path, options } of calls) {
    const response = await emulator.request(method, path, options)
    const text = response.text.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1')
    responses.push({ name, response: { ...response, text } })
  }
  const { body } = await emulator.control('GET', '/openapi.json?api=workspace')
  return { responses, document: body }
}

/** Every object of a value, deepest first, replaced. */
function mapped(value: Any, change: (object: Any) => Any): Any {
  if (Array.isArray(value)) return value.map((each) => mapped(each, change))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, each]) => [name, mapped(each, change)])
  return change(Object.fromEntries(entries))
}

const parsed = (text: string): Any[] =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))

const without = ({ next_generation: _, ...rest }: Any) => rest
const short = (text: string) => text.replaceAll(/([\da-f]{24})[\da-f]{40}/g, '$1')
const known = (text: string) => text.replaceAll(/next_generation_\d/g, 'X')

const drawn = (lines: Any[]) => lines.map((line) => ('output' in line ? { ...line, output: null } : line))

/** What is left of each response when the change of a kind is undone. `before`: applied to those of today. */
const UNDO: Readonly<
  Record<TomorrowKind, { now: (text: string) => Any; before?: (now: Any, then: Any) => Any }>
> = {
  field: { now: (text) => parsed(text).map((each) => mapped(each, without)) },
  // Where there is a new value, any text was there before.
  enum: { now: (text) => parsed(known(text)), before: merged },
  // What a new record gets by chance depends on its id.
  id: { now: (text) => drawn(parsed(short(text))), before: drawn },
  header: { now: parsed },
  order: { now: parsed },
  event: { now: parsed },
}

function merged(then: Any, now: Any): Any {
  if (typeof then === 'string' && typeof now === 'string' && /(^|\/)X$/.test(now)) return now
  if (Array.isArray(then)) return then.map((each, n) => merged(each, now[n]))
  if (typeof then !== 'object' || then === null) return then
  return Object.fromEntries(Object.entries(then).map(([name, each]) => [name, merged(each, now?.[name])]))
}

const headersOf = ({ headers }: TestResponse): Record<string, string> => {
  const { date: _, connection: __, 'content-length': ___, ...rest } = Object.fromEntries(headers)
  return rest
}

/** Tests of each kind of change. @param rounds with one seed each */
export function testChanges(rounds: number): void {
  test.for(TOMORROW_KINDS)(
    `responses of ${rounds} rounds with the change %s are valid, and nothing that exists is different`,
    {
      timeout: 120_000,
    },
    async (kind) => {
      let [count, changed] = [0, 0]
      for (let seed = 1; seed <= rounds; seed++) {
        const then = await round(seed, undefined)
        const now = await round(seed, { only: [kind] })
        const problemOf = judgeOf(now.document, true)
        expect(now.responses.length).toBe(then.responses.length)
        for (const [n, { name, response }] of now.responses.entries()) {
          const today = then.responses[n]?.response as TestResponse
          count++
          if (response.text !== today.text || response.headers.has('x-next')) changed++
          expect(problemOf(name, response)).toBe(undefined)
          expect([name, response.status]).toEqual([name, today.status])
          const undone = UNDO[kind].now(response.text)
          expect(undone).toEqual(UNDO[kind].before?.(parsed(today.text), undone) ?? parsed(today.text))
          const { 'x-next': next, ...headers } = headersOf(response)
          expect(next).toBe(kind === 'header' ? '1' : undefined)
          expect(headers).toEqual(headersOf(today))
        }
      }
      expect(count).toBeGreaterThanOrEqual(34 * rounds)
      // Webhooks have no response.
      if (kind === 'event') expect(changed).toBe(0)
      else expect(changed).toBeGreaterThan(rounds)
    },
  )
}
