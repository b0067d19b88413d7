import type { EventType, SandboxEvent } from '../routes/events.ts'
import { notAnEmulator, refusalIn } from './emulator-error.ts'
import {
  controlHeaders,
  type EmulatorAddress,
  isLocked,
  lockedOut,
  networkReason,
  noResponse,
} from './over-http.ts'
import { controlPath, prefixOf } from './transport.ts'

/** What to listen to, and for how long. */
export interface EventOptions {
  /** Absent: everything. */
  readonly types?: readonly EventType[] | undefined
  /** Ends the feed. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Follows what happens in a sandbox. Nothing is sent before the first item is asked for.
 * @param beforeOpening throws where nothing may be sent any more
 */
export async function* followEvents(
  address: EmulatorAddress,
  sandbox: string,
  { types, signal }: EventOptions = {},
  beforeOpening: () => void = () => {},
): AsyncGenerator<SandboxEvent, void, undefined> {
  const isOver = () => signal?.aborted === true
  if (isOver()) return
  beforeOpening()
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  signal?.addEventListener('abort', leave)
  try {
    const body = await open(address, sandbox, types, leaving.signal)
    for await (const { type, data } of serverSentEvents(body)) {
      yield { type, data: JSON.parse(data) } as SandboxEvent
    }
  } catch (error) {
    if (isOver()) return
    throw error instanceof TypeError ? noResponse(address.url, networkReason(error), error) : error
  } finally {
    signal?.removeEventListener('abort', leave)
    leaving.abort()
  }
}

async function open(
  address: EmulatorAddress,
  sandbox: string,
  types: EventOptions['types'],
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { url, controlToken, fetch = globalThis.fetch } = address
  const query = types === undefined ? '' : `?types=${encodeURIComponent(types.join(','))}`
  const response = await fetch(`${url}${controlPath(sandbox)}/events${query}`, {
    headers: controlHeaders({ controlToken }),
    signal,
  })
  if (isFeed(response)) return chunksOf(response)
  if (isLocked(response)) throw lockedOut(address)
  const reply: unknown = response.ok ? undefined : await response.json().catch(() => undefined)
  const asked = prefixOf(sandbox) === '' ? 'GET /events' : `GET /events of the sandbox ${sandbox}`
  throw refusalIn(response.status, reply, asked) ?? notAnEmulator(response.status, asked)
}

// Not every browser can iterate over a body.
async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  for (;;) {
    const read = await reader?.read()
    if (read === undefined || read.done) return
    yield read.value
  }
}

// Anybody responds with 200. A page of something else would look like a feed in which nothing happens.
function isFeed({ ok, headers, body }: Response): boolean {
  return ok && body !== null && headers.get('content-type')?.startsWith('text/event-stream') === true
}

/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  readonly type: string
  readonly data: string
}

/** Reads a stream of server-sent events whose lines end in LF or CR LF. Comments and fields that carry neither type nor data are skipped. */
export async function* serverSentEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let type = 'message'
  let data: string[] = []
  for await (const line of linesOf(bytes)) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (field === 'event') type = value
    if (field === 'data') data.push(value)
    if (line !== '') continue
    if (data.length > 0) yield { type, data: data.join('\n') }
    type = 'message'
    data = []
  }
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/)
    rest = lines.pop() ?? ''
    yield* lines
  }
}
