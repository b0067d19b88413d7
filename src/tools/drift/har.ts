import { z } from 'zod'
import type { RecordedExchange } from '../../core/assumptions.ts'
import type { Json } from '../../core/json.ts'
import { depthIssue } from '../../core/json-text.ts'
import type { AnyOperation } from '../../core/operation.ts'
import type { Match, RouteTable } from '../../server/route-table.ts'

/** Where an exchange is in `log.entries`, and its method and path template. */
export interface Place {
  readonly entry: number
  readonly request: string
}

/** One exchange with an operation of the service. */
export interface HarExchange extends RecordedExchange, Place {
  readonly declared: AnyOperation
  /** Real milliseconds; NaN where the file does not have them. */
  readonly start: number
  readonly end: number
  readonly key: string | undefined
  /** `invalid`: the body of the response is not JSON; `unknown`: the file has no body, or only a part of it. */
  readonly body: 'json' | 'none' | 'invalid' | 'unknown'
  /** Why the body of the response is not compared, although it must have one. */
  readonly missing: string | undefined
  /** Type of that body without parameters. */
  readonly media: string
}

// Browsers and proxies leave out or misspell much of HAR 1.2. What is not needed here may be wrong.
const pairs = () => z.array(z.object({ name: z.string(), value: z.coerce.string() })).catch([])
const content = () =>
  z.object({
    text: z.string().optional(),
    encoding: z.string().optional(),
    size: z.number().optional(),
    mimeType: z.string().optional(),
    // Of Playwright: the body is in a file of its own.
    _file: z.string().optional(),
  })
const harEntry = z.looseObject({
  startedDateTime: z.string().catch(''),
  time: z.number().catch(0),
  request: z.object({
    method: z.string(),
    url: z.url({ protocol: /^https?$/ }).transform((url) => new URL(url)),
    headers: pairs(),
    postData: content().catch({}),
  }),
  response: z.object({ status: z.coerce.number(), headers: pairs(), content: content().catch({}) }),
})
export type HarEntry = z.output<typeof harEntry>

/** An entry of a HAR file; undefined when it is no exchange by HTTP with an absolute URL. */
export function readEntry(raw: unknown): HarEntry | undefined {
  return harEntry.safeParse(raw).data
}

/** The base URL as {@link pathBelow} needs it. */
export function baseOf(url: string): string {
  return addressOf(new URL(url)).replace(/\/+$/, '')
}

/** The path of an exchange after the base URL; undefined for another address. */
export function pathBelow(base: string, har: HarEntry | undefined): string | undefined {
  const address = addressOf(har?.request.url)
  return address.startsWith(`${base}/`) ? address.slice(base.length) : undefined
}

/** `12 entries: another address; 1 entry: preflight`. */
export function skippedText(skipped: Readonly<Record<string, number>>): string {
  const parts = Object.entries(skipped).map(([why, n]) => `${n} ${n === 1 ? 'entry' : 'entries'}: ${why}`)
  return parts.join('; ') || 'it has no entries'
}

function addressOf(url: URL | undefined): string {
  return url === undefined ? '' : url.origin + url.pathname
}

// By the specification, a base URL ends in /v1.
export function commonBase(entries: Iterable<HarEntry | undefined>, routes: RouteTable<AnyOperation>) {
  const counts = new Map<string, number>()
  for (const har of entries) {
    const [, base = '', path = ''] = /^(.*?\/v1)(\/.*)$/.exec(addressOf(har?.request.url)) ?? []
    const isKnown = har && routes.match(har.request.method, path).kind !== 'unknown'
    if (isKnown) counts.set(base, (counts.get(base) ?? 0) + 1)
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? ''
}

/** Why an entry is no exchange with the service; undefined when it is one. */
export function whyNot(
  har: HarEntry | undefined,
  match: Match<AnyOperation> | undefined,
): string | undefined {
  if (har === undefined) return 'no exchange by HTTP with an absolute URL'
  const { status } = har.response
  if (match === undefined) return 'another address'
  if (har.request.method === 'OPTIONS') return 'preflight'
  if (status < 100) return 'no response'
  if (status === 304 || har._fromCache !== undefined) return 'from a cache'
  if (status >= 500) return 'failure of the server'
  return match.kind !== 'route' && status >= 400 ? 'refused, and no operation' : undefined
}

// A segment that is not a plain word may be an id or a secret.
export const PLAIN_SEGMENT = /^[a-z][a-z-]{0,30}$/

export function masked(path: string): string {
  return path
    .split('/')
    .map((each) => (PLAIN_SEGMENT.test(each) || each === '' ? each : '{...}'))
    .join('/')
}

/** @param response another one to the same request */
export function exchangeOf(
  entry: number,
  har: HarEntry,
  declared: AnyOperation,
  response = har.response,
): HarExchange {
  const { request, startedDateTime, time } = har
  const headers = byName(response.headers)
  const [media = ''] = (headers['content-type'] ?? response.content.mimeType ?? '').split(';')
  const received = request.method === 'HEAD' ? UNKNOWN : bodyOf(response.content, media === declared.media)
  const { status } = response
  const mustHaveBody = status >= 400 || (status < 300 && status !== 204 && declared.output !== undefined)
  const start = Date.parse(startedDateTime)
  const { searchParams: query } = request.url
  return {
    ...{ entry, request: `${declared.method} ${declared.path}`, declared, operation: declared.name },
    ...{ status, headers },
    ...{ start, end: start + Math.max(0, time), media: media.trim().toLowerCase() },
    query: Object.fromEntries(
      [...query].map(([name, value]) => [name, query.getAll(name).length > 1 ? query.getAll(name) : value]),
    ),
    key: byName(request.headers)['idempotency-key'],
    sent: bodyOf(request.postData, false).value,
    received: received.value,
    body: received.body,
    missing:
      mustHaveBody && received.body !== 'json' ? whyMissing(received.body, response.content) : undefined,
  }
}

export function byName(headers: HarEntry['request']['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]))
}

function whyMissing(body: HarExchange['body'], content: HarEntry['request']['postData']): string {
  if (body === 'unknown') return whyNoBody(content)
  return body === 'none' ? 'no body' : 'body is not JSON'
}

/** Why the body of a response is not known. */
export function whyNoBody({ _file, text = '', encoding }: HarEntry['request']['postData']): string {
  if (_file !== undefined) return 'body in a file of its own'
  return encoding === 'base64' && !isBase64(text) ? 'body in wrong base64' : 'body left out, or only in part'
}

const isBase64 = (text: string) => /^[\w+/\s-]*={0,2}\s*$/.test(text)

const UNKNOWN = { body: 'unknown', value: undefined } as const

/** @param isStream whether the body is NDJSON, whose value is the list of its lines */
export function bodyOf({ text = '', encoding, size }: HarEntry['request']['postData'], isStream: boolean) {
  if (text === '') return size === 0 ? ({ body: 'none', value: undefined } as const) : UNKNOWN
  if (encoding === 'base64' && !isBase64(text)) return UNKNOWN
  const plain = encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text
  if (depthIssue(plain) !== undefined) return UNKNOWN
  try {
    const lines = plain.split(/\r?\n/).filter((line) => line.trim() !== '')
    const value = isStream ? lines.map((line) => JSON.parse(line) as Json) : (JSON.parse(plain) as Json)
    return { body: 'json', value } as const
  } catch {
    // A longer body was cut when it was recorded.
    return Buffer.byteLength(plain) < (size ?? 0) ? UNKNOWN : ({ body: 'invalid', value: undefined } as const)
  }
}
