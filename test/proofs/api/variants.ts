import { isObject, type Json } from '../../../src/core/json.ts'
import { Chance } from '../../../src/core/random.ts'
import { START } from '../../support/base-state.ts'
import type { RawResponse } from './connection.ts'
import { parsed } from './judge.ts'
import { type Collections, type Exchange, type Setting, whole } from './replay.ts'
import type { Sent } from './request-wire.ts'
import { busyCollections } from './sandbox.ts'

/** A sandbox that differs in a property that responses must not depend on, and the permitted differences. */
export interface Variant {
  readonly name: string
  readonly setting: Setting
  /** Exchanges that may differ, because their responses depend on the property. */
  readonly leavesOut?: (exchange: Exchange) => boolean
  /** A response as text without the parts that may differ. */
  readonly normal?: (response: RawResponse, start: number) => string
  /** The start of this sandbox, if it differs. */
  readonly start?: number
}

const BEGIN = Date.parse(START)

const LIST_ORDER = 'U020'

/** Whole seconds on other calendar days: a leap day, the ends of a year and of summer time, the last day of 32 bits. */
const CLOCKS = [
  ...['2028-02-29T12:00:00Z', '2026-12-31T23:59:59Z'],
  ...['2026-10-25T00:59:30Z', '2038-01-19T03:14:07Z'],
]

export function variants(seed: number): readonly Variant[] {
  return [
    { name: 'the same sandbox again', setting: {} },
    { name: 'records in reverse', setting: { collections: reordered((records) => records.toReversed()) } },
    { name: 'records shuffled', setting: { collections: reordered((records) => shuffled(records, seed)) } },
    {
      name: 'lists in another order',
      setting: { options: { settings: { 'lists.order': 'shuffled' } } },
      leavesOut: isPage,
      normal: withoutOrder,
    },
    {
      name: 'result lines in another order',
      setting: { options: { settings: { 'batch.results.order': 'shuffled' } } },
      normal: withoutOrder,
    },
    {
      name: 'members in another order',
      setting: { change: withMembersReversed },
      // Generated outputs are drawn in the order of the properties in the schema.
      leavesOut: ({ sent }) => /\/results(?:\?|$)/.test(sent.target),
      normal: withoutMemberOrder,
    },
    ...CLOCKS.map((clock) => atClock(clock)),
  ]
}

function reordered(order: (records: readonly object[]) => readonly object[]): Collections {
  return Object.fromEntries(
    Object.entries(busyCollections()).map(([name, records]) => [name, order(records)]),
  )
}

function shuffled(records: readonly object[], seed: number): readonly object[] {
  const chance = new Chance(seed, 'shuffle')
  const drawn = records.map((record) => ({ record, at: chance.next() }))
  return drawn.sort((a, b) => a.at - b.at).map(({ record }) => record)
}

// The records on a page depend on the order, as they should.
function isPage({ sent }: Exchange): boolean {
  return /\?|\/users$|\/data-views|consumption/.test(sent.target)
}

function withoutOrder(response: RawResponse): string {
  const { status, headers, text } = response
  const type = headers.get('content-type') ?? ''
  if (type === 'application/x-ndjson')
    return whole({ status, headers, text: text.split('\n').sort().join('\n') })
  // A configured order is no longer assumed; in a response to HEAD, only the headers show that.
  const ids = headers.get('x-emulator-assumed')?.split(',')
  const assumed = ids?.filter((id) => id !== LIST_ORDER)
  const others = new Map(headers).set('x-emulator-assumed', assumed?.join(',') ?? '')
  const body = parsed(text)
  if (!isObject(body) || !Array.isArray(body.data)) return whole({ status, headers: others, text })
  const data = body.data.map((each) => JSON.stringify(each)).sort()
  return JSON.stringify([status, { ...body, data }])
}

function withMembersReversed({ body, headers, ...sent }: Sent): Sent {
  const json = body === undefined ? undefined : parsed(body.toString())
  if (!isObject(json)) return { ...sent, headers, body }
  const text = JSON.stringify(reversed(json), null, 1)
  // Bodies with duplicate fields, numbers that change, or invalid UTF-8 would change in JSON.parse, so they stay as they are.
  if (body?.equals(Buffer.from(JSON.stringify(json))) !== true) return { ...sent, headers, body }
  const next = Buffer.from(text)
  const renamed = headers.map(
    ([name, value]) => [name.toLowerCase(), name === 'Content-Length' ? String(next.length) : value] as const,
  )
  return { ...sent, headers: renamed, body: next }
}

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map((each) => reversed(each as Json))
  if (!isObject(value)) return value
  const entries = Object.entries(value).toReversed()
  return Object.fromEntries(entries.map(([key, each]) => [key, reversed(each)]))
}

// Opaque records are returned in the order in which they were sent, and the first of several issues may differ.
function withoutMemberOrder({ status, headers, text }: RawResponse): string {
  if (status >= 400) return JSON.stringify([status, [...headers.keys()]])
  return JSON.stringify([status, [...headers], sorted(parsed(text) ?? text)])
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]))
}

function atClock(clock: string): Variant {
  const start = Date.parse(clock)
  return {
    name: `started at ${clock}`,
    start,
    setting: { options: { clock }, collections: moved(start - BEGIN) },
    // The consumption report is about calendar days, and so are the dates in its query.
    leavesOut: ({ sent }) => /consumption/i.test(sent.target),
    normal: withoutTime,
  }
}

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z/g

const DATE = /\d{4}-\d\d-\d\d/g

function moved(by: number): Collections {
  const text = JSON.stringify(busyCollections())
  const later = text.replaceAll(INSTANT, (instant) => new Date(Date.parse(instant) + by).toISOString())
  return JSON.parse(later) as Collections
}

// Replaces every instant by its distance from the start.
function withoutTime({ status, headers, text }: RawResponse, start: number): string {
  const relative = new Map(headers)
  relative.set('date', String(Date.parse(headers.get('date') ?? '') - start))
  relative.set('x-ratelimit-reset', String(Number(headers.get('x-ratelimit-reset')) - start / 1000))
  const distant = text.replaceAll(INSTANT, (instant) => `T${Date.parse(instant) - start}`)
  // Generated dates are some days before the sandbox's date, and the time of day decides which day that is.
  if (headers.get('content-type') === 'application/x-ndjson')
    return JSON.stringify([status, [...relative], distant.replaceAll(DATE, 'date')])
  return JSON.stringify([status, [...relative], distant])
}
