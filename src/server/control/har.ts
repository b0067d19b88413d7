import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import { requestOf } from '../../core/explain/trace.ts'
import { type ShapeOf, timestamp } from '../../core/fields.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { entryOf } from './request-entry.ts'

const pairs = () => z.array(z.strictObject({ name: z.string(), value: z.string() }))

const content = () =>
  z.strictObject({
    size: z.number(),
    mimeType: z.string(),
    text: z.string().exactOptional(),
    comment: z.string().exactOptional(),
  })

const harEntry = () =>
  z.strictObject({
    /** Virtual instant. */
    startedDateTime: timestamp(),
    /** Real milliseconds; 0 where they are not known, and with `stable`. */
    time: z.number(),
    request: z.strictObject({
      method: z.string(),
      url: z.string(),
      httpVersion: z.string(),
      cookies: pairs(),
      headers: pairs(),
      queryString: pairs(),
      postData: z.strictObject({ mimeType: z.string(), text: z.string() }).exactOptional(),
      headersSize: z.number(),
      bodySize: z.number(),
    }),
    /** `status` is 0 for a request that a fault cut off. */
    response: z.strictObject({
      status: z.int(),
      statusText: z.string(),
      httpVersion: z.string(),
      cookies: pairs(),
      headers: pairs(),
      content: content(),
      redirectURL: z.string(),
      headersSize: z.number(),
      bodySize: z.number(),
    }),
    cache: z.strictObject({}),
    timings: z.strictObject({ send: z.number(), wait: z.number(), receive: z.number() }),
    /** Id of the connection; absent with `stable`. */
    connection: z.string().exactOptional(),
    /** Id of the request. */
    _id: z.string(),
    /** Null when no route matched. */
    _operation: z.string().nullable(),
    /** Id of the trace in `traceparent`. */
    _trace: z.string().exactOptional(),
    /** Ids of the fault rules that fired. */
    _faults: z.array(z.string()),
  })

/** Requests as HAR 1.2, which browsers and other tools read. Fields of the emulator begin with an underscore. */
export const harDocument = () =>
  z.strictObject({
    log: z.strictObject({
      version: z.literal('1.2'),
      creator: z.strictObject({ name: z.string(), version: z.string() }),
      entries: z.array(harEntry()),
    }),
  })

export type HarDocument = ShapeOf<typeof harDocument>
type HarEntry = HarDocument['log']['entries'][number]

/** HAR's value for a size that is not known. */
const UNKNOWN_SIZE = -1

/**
 * The entries of a log as HAR 1.2. They contain no keys and secrets, since the log never has them.
 * @param origin `http://host:port` of the server
 */
export function harOf(
  sandbox: Sandbox,
  entries: readonly LogEntry[],
  facts: { readonly origin: string; readonly version: string; readonly stable: boolean },
): HarDocument {
  const { origin, version, stable } = facts
  return {
    log: {
      version: '1.2',
      creator: { name: 'agent-workspace-emulator', version },
      entries: entries.map((entry) => harEntryOf(sandbox, entry, origin, stable)),
    },
  }
}

function harEntryOf(sandbox: Sandbox, entry: LogEntry, origin: string, stable: boolean): HarEntry {
  const { id, at, operation, trace, faults, duration_ms, evidence } = entryOf(sandbox, entry, { stable })
  const time = duration_ms ?? 0
  return {
    startedDateTime: at,
    time,
    request: sentOf(entry, origin),
    response: receivedOf(entry),
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
    ...(evidence && { connection: evidence.connection.id }),
    _id: id,
    _operation: operation,
    ...(trace !== undefined && { _trace: trace }),
    _faults: faults,
  }
}

function sentOf(entry: LogEntry, origin: string): HarEntry['request'] {
  const { method, path, query, headers, body, body_kept, body_bytes } = requestOf(entry)
  const queryString = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each) => ({ name, value: each })),
  )
  const search = new URLSearchParams(queryString.map(({ name, value }): [string, string] => [name, value]))
  return {
    method,
    url: `${origin}${path}${search.size === 0 ? '' : `?${search}`}`,
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, value }],
    ),
    queryString,
    ...(body_kept && {
      postData: { mimeType: headers['content-type'] ?? 'application/json', text: JSON.stringify(body) },
    }),
    headersSize: UNKNOWN_SIZE,
    bodySize: body_bytes ?? (body_kept ? UNKNOWN_SIZE : 0),
  }
}

function receivedOf({ status, response }: LogEntry): HarEntry['response'] {
  const { headers = [], body = null, body_kept = true, body_bytes = 0 } = response?.show() ?? {}
  const mimeType = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? ''
  return {
    status,
    statusText: STATUS_CODES[status] ?? '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: [...headers],
    content: {
      size: body_bytes,
      mimeType,
      ...(body !== null && { text: body }),
      ...(!body_kept && { comment: 'The log contains at most a part of this body.' }),
    },
    redirectURL: '',
    headersSize: UNKNOWN_SIZE,
    bodySize: body_bytes,
  }
}
