import { gzipSync } from 'node:zlib'
import { isObject, type Json } from '../../../src/core/json.ts'
import type { Chance } from '../../../src/core/random.ts'
import { KEYS } from '../../support/base-state.ts'
import { type Draft, type Source, someId } from './valid.ts'
import { pick, TEXTS } from './values.ts'

/** A change to a valid request; the result may still be valid. */
export type Mutation = (draft: Draft, source: Source) => void

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

const WRONG: readonly Json[] = [
  ...[null, true, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER, '', ' ', 'x'.repeat(5_000), [], [null], {}],
  ...[{ $ref: '#' }, JSON.parse('{"__proto__":{"polluted":1}}') as Json, [[[[[[[[]]]]]]]]],
]

const ODD_SEGMENTS = [
  ...['__proto__', 'constructor', '%00', '%2F', '%2e%2e', '..', '.', '%E0%A4%A', '%', '%FF', '%F0%9F%98%80'],
  ...['a%20b', '~', ';a=b', '@', '{id}', 'ts-b', 'ts-x', 'x'.repeat(3_000), ''],
]

const pairs = (rows: readonly (readonly [name: string, ...values: string[]])[]) =>
  rows.flatMap(([name, ...values]) => values.map((value) => [name, value] as const))

const ODD_QUERIES = pairs([
  ['limit', '0', '101', '1e1', ' 5', '+5', '0x10', '٣', '', '9'.repeat(400)],
  ['offset', '-1', '100001'],
  ['after', 'nowhere', ''],
  ['before', '__proto__'],
  ['start_date', '2026-02-30', '0', '+275760-09-13'],
  ['end_date', '2026-02-01T10:00:00+01:00', '1990-01-01'],
  ['unknown', 'x'],
  ['__proto__', 'x'],
  ['has_messages', 'perhaps'],
  ['search', 'x'.repeat(4_000)],
])

const ODD_TAILS = [
  ...['?', '&&&', '&limit', '?limit=%', '?search=%E0%A4%A'],
  ...['&limit[]=1', '#part', '?a?b=c', '&=', '%3Flimit=0'],
]

const ODD_HEADERS = pairs([
  ['Authorization', 'Bearer', 'Bearer  ', 'Basic YTpi', `bearer ${KEYS.KU}`, 'Bearer __proto__'],
  ['Authorization', `Bearer ${KEYS.KU}, Bearer ${KEYS.K2}`, `Bearer ${'k'.repeat(2_000)}`],
  ['Authorization', ...['other', 'UPPER', ''].map((name) => `Bearer ${KEYS.KU}@${name}`)],
  ['Idempotency-Key', '', 'k'.repeat(255), 'k'.repeat(256), '__proto__', 'key-1'],
  ['Origin', 'null', 'https://evil.example', 'http://localhost:99999'],
  ['Access-Control-Request-Method', 'POST'],
  ['Access-Control-Request-Headers', 'x, (y), z'],
  ['X-Emulator-Sandbox', 'other', '', 'No Such'],
  ['X-Emulator-Fault', '"not a token"', 'no-such-preset', ';;;'],
  ['Accept', 'text/html'],
  ['Accept-Encoding', 'br, gzip'],
  ['If-None-Match', '*'],
  ['Range', 'bytes=0-0'],
  ['Cookie', 'a=b; __proto__=c'],
  ['X-Forwarded-For', "1.2.3.4'--"],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['Content-Type', 'text/plain', 'application/x-ndjson', 'nonsense'],
  ['Content-Type', 'application/json; charset=latin1', 'application/json;charset=UTF-8'],
  ['Content-Encoding', 'gzip', 'zip', 'identity'],
])

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND']
const COLLECTIONS = ['teamspaces', 'users', 'messages', 'agents', 'batch_predictions', 'pages']
const HOSTS = ['evil.example', '', '127.0.0.1', '0177.0.0.1', 'localhost:1, evil', '[::1']
const UNKNOWN = ['unknown', 'id', '__proto__', 'constructor', '', 'object']

const ODD_BODIES: readonly Buffer[] = [
  ...['', '{', '{"a":1,}', '{"a":1}{"a":1}', '{"name":1,"name":"x"}', '[]', 'null', '"text"', '12', 'NaN'],
  ...['\uFEFF{"name":"x"}', '{"name":"\\ud800"}', '{"name":"\\u0000"}', 'name=x&like=1', '<xml/>'],
  ...[`{"name":${deep(63)}}`, `{"name":${deep(65)}}`, deep(5_000), `{"name":${'9'.repeat(400)}}`],
  ...['{"like":1e400}', '{"constructor":{"prototype":{"polluted":1}}}'],
].map((text) => Buffer.from(text))

const BAD_UTF8 = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d])

function setHeader({ headers }: Draft, name: string, value: string): void {
  const at = headers.findIndex(([each]) => each === name)
  if (at === -1) headers.push([name, value])
  else headers[at] = [name, value]
}

/** For each place in a JSON value, a function that replaces the value there. */
function places(value: Json, put: (next: Json) => void): ((next: Json) => void)[] {
  const own = [put]
  if (Array.isArray(value)) {
    for (const [n, each] of value.slice(0, 3).entries())
      own.push(...places(each as Json, (next) => put(value.with(n, next))))
  } else if (isObject(value)) {
    for (const [key, each] of Object.entries(value))
      own.push(...places(each, (next) => put({ ...value, [key]: next })))
  }
  return own
}

/** Replaces the value at a random place of the body with one of these values. */
const somewhere =
  (values: readonly Json[]) =>
  (draft: Draft, { chance }: Source) => {
    if (draft.json === undefined) return
    const put = (next: Json) => {
      draft.json = next
    }
    pick(chance, places(draft.json, put))(pick(chance, values))
  }

const onObject =
  (work: (entries: [string, Json][], chance: Chance) => void) =>
  (draft: Draft, { chance }: Source) => {
    if (!isObject(draft.json)) return
    const entries = Object.entries(draft.json)
    work(entries, chance)
    draft.json = Object.fromEntries(entries)
  }

export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'wrong type': somewhere(WRONG),
  'odd text': somewhere(TEXTS),
  'missing member': onObject((entries, chance) => void entries.splice(chance.int(0, entries.length), 1)),
  'unknown member': onObject((entries, chance) => {
    entries.push([pick(chance, UNKNOWN), pick(chance, WRONG)])
  }),
  'other body': (draft, { chance }) => {
    draft.raw = chance.int(0, 20) === 0 ? BAD_UTF8 : pick(chance, ODD_BODIES)
  },
  'cut body': (draft, { chance }) => {
    const text = Buffer.from(JSON.stringify(draft.json ?? null))
    draft.raw = text.subarray(0, chance.int(0, text.length))
  },
  gzip: (draft) => {
    draft.raw = gzipSync(JSON.stringify(draft.json ?? null))
    setHeader(draft, 'Content-Encoding', 'gzip')
  },
  'large body': (draft, { chance }) => {
    // Rarely, because reading one body of 1 MiB costs as much as a hundred other requests.
    if (chance.int(0, 29) === 0) draft.raw = Buffer.from(`{"name":"${'x'.repeat(1_048_576)}"}`)
  },
  'other id': (draft, { chance, sandbox }) => {
    const at = chance.int(1, draft.segments.length - 1)
    draft.segments[at] = encodeURIComponent(someId(sandbox, pick(chance, COLLECTIONS), chance))
  },
  'odd segment': (draft, { chance }) => {
    draft.segments[chance.int(1, draft.segments.length - 1)] = pick(chance, ODD_SEGMENTS)
  },
  'other path': (draft, { chance }) => {
    const ways = [
      () => draft.segments.push(''),
      () => draft.segments.push('more'),
      () => draft.segments.splice(1, 1),
      () => draft.segments.splice(1, 0, ''),
      () => {
        draft.segments = draft.segments.map((each) => each.toUpperCase())
      },
      () => {
        draft.base = pick(chance, ['/V1', '/v2', '', '/v1/v1', '/v1beta'])
      },
      () => {
        draft.prefix = pick(chance, ['/@other', '/@UPPER', '/@', '/@-x', '/@other/@other'])
      },
    ]
    pick(chance, ways)()
  },
  'other method': (draft, { chance }) => {
    draft.method = pick(chance, METHODS)
  },
  'odd query': (draft, { chance }) => {
    const [name, value] = pick(chance, ODD_QUERIES)
    draft.query.push([name, value])
  },
  'odd tail': (draft, { chance }) => {
    draft.tail = pick(chance, ODD_TAILS)
  },
  'repeated query': (draft, { chance }) => {
    draft.query.push(...draft.query, ['limit', String(chance.int(1, 100))], ['limit', '2'])
  },
  'other key': (draft, { chance }) => {
    setHeader(draft, 'Authorization', `Bearer ${pick(chance, Object.values(KEYS))}`)
  },
  'no key': (draft) => {
    draft.headers = draft.headers.filter(([name]) => name !== 'Authorization')
  },
  'odd header': (draft, { chance }) => {
    const [name, value] = pick(chance, ODD_HEADERS)
    setHeader(draft, name, value)
  },
  'repeated header': (draft, { chance }) => {
    const [name, value] = pick(chance, ODD_HEADERS)
    draft.headers.push([name, value], [name, value])
  },
  'other host': (draft, { chance }) => {
    setHeader(draft, 'Host', pick(chance, HOSTS))
  },
}
