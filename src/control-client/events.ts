import type { EventType } from '../server/control/event-types.ts'
import type { SandboxEvent } from '../server/control/routes/events.ts'
import { notAnEmulator, refusalIn } from './emulator-error.ts'
import { controlHeaders, type EmulatorAddress, isLocked, lockedOut, noResponse } from './over-http.ts'
import { controlPath, prefixOf, realFetch } from './transport.ts'

/** Options of a feed of events. */
export interface EventOptions {
  /** Types of events to follow. Default: all. */
  readonly types?: readonly EventType[] | undefined
  /** Ends the feed. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Follows the events of a sandbox. The request is sent when the caller requests the first event.
 * @param beforeOpening throws when requests are not allowed any more
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
    throw error instanceof TypeError ? noResponse(address.url, error) : error
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
  const { url, controlToken, fetch = realFetch } = address
  const query = types === undefined ? '' : `?types=${encodeURIComponent(types.join(','))}`
  const response = await fetch(`${url}${controlPath(sandbox)}/events${query}`, {
    headers: controlHeaders(controlToken),
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

// Any server may respond with 200. Its page would look like a feed without events.
function isFeed({ ok, headers, body }: Response): boolean {
  return ok && body !== null && headers.get('content-type')?.startsWith('text/event-stream') === true
}

/**
 * Reads a stream of server-sent events whose lines end in LF or CR LF. Skips comments, and fields other than `event` and
 * `data`.
 */
export async function* serverSentEvents(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly type: string; readonly data: string }> {
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
