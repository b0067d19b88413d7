import { notAnEmulator, refusalIn } from './emulator-error.ts'
import { headersOf, isLocked, reasonOf } from './http.ts'
import { type EmulatorAddress, lockedOut, silence } from './over-http.ts'
import { controlPath, prefixOf } from './paths.ts'
import { serverSentEvents } from './server-sent-events.ts'
import type { HappeningType, SandboxEvent } from './views/events.ts'

/** What to listen to, and for how long. */
export interface EventOptions {
  /** Absent: everything. */
  readonly types?: readonly HappeningType[] | undefined
  /** Ends the feed. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Follows what happens in a sandbox. Nothing is sent before the first item is asked for.
 * @param beforeOpening throws where nothing may be sent any more
 */
export async function* follow(
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
    throw error instanceof TypeError ? silence(address.url, reasonOf(error), error) : error
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
    headers: headersOf({ controlToken }),
    signal,
  })
  if (isFeed(response)) return response.body as AsyncIterable<Uint8Array>
  if (isLocked(response)) throw lockedOut(address)
  const answer: unknown = response.ok ? undefined : await response.json().catch(() => undefined)
  const asked = prefixOf(sandbox) === '' ? 'GET /events' : `GET /events of the sandbox ${sandbox}`
  throw refusalIn(response.status, answer, asked) ?? notAnEmulator(response.status, asked)
}

// Anybody answers 200. A page of something else would look like a feed in which nothing happens.
function isFeed({ ok, headers, body }: Response): boolean {
  return ok && body !== null && headers.get('content-type')?.startsWith('text/event-stream') === true
}
