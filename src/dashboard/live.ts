import { computed, effect, signal } from '@preact/signals'
import { EmulatorError } from '../control-client/emulator-error.ts'
import { followEvents } from '../control-client/events.ts'
import type { EventType } from '../server/control/event-types.ts'
import { ask, emulatorAddress, needsToken, type Output, wordsOf } from './api.ts'
import { after, coalesced, every, pageTime, perFrame } from './browser.ts'
import { sandboxName } from './place.ts'
import { toast } from './toasts.ts'

/**
 * A type of event of the stream; `write` for a request that may have changed something (any but GET); or `reload` when anything
 * may have changed.
 */
export type ChangeKind = EventType | 'write' | 'reload'

/** The connection to the emulator: `lost` after two seconds without a stream. */
export const connection = signal<{
  readonly state: 'open' | 'closed' | 'lost'
  /** Page time at which the stream ended, or could not be opened. */
  readonly since: number
  /** Page time of the next try. */
  readonly nextTry: number
}>({ state: 'open', since: 0, nextTry: 0 })

/** The sandbox of the page, if the emulator has none with this name. */
export const missingSandbox = signal<string | undefined>(undefined)

export const isLost = computed(() => connection.value.state === 'lost' && missingSandbox.value === undefined)

/** The last reported clock, with the page time of the report. */
export const clockState = signal<(Output<'GET /clock'> & { readonly seen: number }) | undefined>(undefined)

/** The current virtual instant, computed from the last report, in milliseconds; undefined before the first response. */
export function virtualNow(): number | undefined {
  const shown = clockState.peek()
  if (shown === undefined) return undefined
  const real = isLost.peek() ? 0 : pageTime() - shown.seen
  return Date.parse(shown.now) + real * shown.rate
}

/** {@link virtualNow}, updated ten times a second while the page is visible. */
export const ticking = signal<number | undefined>(undefined)

every(100, () => {
  if (document.hidden) return
  ticking.value = virtualNow()
})

const listeners = new Set<(kinds: ReadonlySet<ChangeKind>) => void>()
let pending = new Set<ChangeKind>()

const flush = perFrame(() => {
  const kinds = pending
  pending = new Set()
  for (const listener of listeners) listener(kinds)
})

/** Tells every view what has changed. Default: anything, as after a write whose event in the stream is still to come. */
export function changed(kind: ChangeKind = 'reload'): void {
  pending.add(kind)
  flush()
}

/** Calls back once per frame with new events, with their kinds. @returns a function that ends it */
export function onKinds(listener: (kinds: ReadonlySet<ChangeKind>) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Maximum real milliseconds that loading waits for the stream of events to open: a proxy may delay it. */
const MAX_WAIT = 10_000

let isWaiting = false

/**
 * Whether all data will be loaded soon, because the stream of events is opening, or has opened since the last frame. Data that
 * is loaded before that would be loaded twice.
 */
export const isReloadDue = (): boolean => isWaiting || pending.has('reload')

function endWait(): void {
  if (!isWaiting) return
  isWaiting = false
  changed()
}

/** The instant of the last event of the stream. */
export const lastEvent = signal<string | undefined>(undefined)

/** Tries to connect at once. */
export let retryNow: () => void = () => {}

const RESTARTED = 'The emulator was restarted. Everything was loaded again; your unsaved edits are kept.'

/** Seconds between the first tries to connect. */
const PAUSES = [1, 2, 4, 8]

/** Follows the events of one sandbox until the signal is aborted, and connects again when the stream ends. */
async function follow(name: string, signal: AbortSignal): Promise<void> {
  let failures = 0
  let hasOpened = false
  while (!signal.aborted) {
    let reason: unknown
    try {
      for await (const { type, data } of followEvents(emulatorAddress(), name, { signal })) {
        if (type === 'hello') {
          if (startedAt !== '' && data.started_at !== startedAt) toast('info', RESTARTED)
          else if (hasOpened && isLost.value) {
            const seconds = Math.round((pageTime() - connection.value.since) / 1_000)
            toast('ok', `Connected again after ${seconds} s. Everything was loaded again.`)
          }
          startedAt = data.started_at
          failures = 0
          hasOpened = true
          missingSandbox.value = undefined
          connection.value = { state: 'open', since: 0, nextTry: 0 }
          isWaiting = false
          changed()
          continue
        }
        if (type === 'end') continue
        const shown = clockState.value
        if (type === 'clock' && shown) clockState.value = { ...shown, ...data, seen: pageTime() }
        if (type === 'schedule') {
          nexts += 1
          if (shown) clockState.value = { ...shown, next: data.next }
        }
        if ('at' in data) lastEvent.value = data.at
        if (type === 'request' && data.method !== 'GET') changed('write')
        changed(type === 'dropped' ? 'reload' : type)
      }
    } catch (error) {
      reason = error
    }
    if (signal.aborted) return
    missingSandbox.value = reason instanceof EmulatorError && reason.status === 404 ? name : undefined
    if (missingSandbox.value !== undefined) clockState.value = undefined
    if (reason !== undefined && /control token/.test(wordsOf(reason))) needsToken.value = true
    const pause = (PAUSES[failures] ?? 15) * 1_000
    failures += 1
    lose(pause)
    endWait()
    await new Promise<void>((resolve) => {
      retryNow = resolve
      after(pause, resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}

function lose(pause: number): void {
  const now = pageTime()
  const since = connection.value.state === 'open' ? now : connection.value.since
  connection.value = { state: now - since > 1_500 ? 'lost' : 'closed', since, nextTry: now + pause }
  after(2_000, () => {
    if (connection.value.state === 'closed') connection.value = { ...connection.value, state: 'lost' }
  })
}

/** When the emulator process of the last stream was started. */
export let startedAt = ''

/** The number of reported next events. One that arrives while the clock is read is newer than what is read. */
let nexts = 0

async function readClock(): Promise<void> {
  const [name, before] = [sandboxName.peek(), nexts]
  try {
    const shown = await ask('GET /clock')
    if (name !== sandboxName.peek()) return
    const { next } = nexts === before ? shown : (clockState.peek() ?? shown)
    clockState.value = { ...shown, next, seen: pageTime() }
    ticking.value = virtualNow()
  } catch {
    // The clock is read again as soon as the stream opens again.
  }
}

const loadClock = coalesced(readClock)

/** Connects, and connects again when another sandbox is chosen. */
export function startLive(): void {
  onKinds((kinds) => {
    if (['clock', 'event', 'transition', 'sandbox', 'reload'].some((kind) => kinds.has(kind as ChangeKind)))
      loadClock()
  })
  effect(() => {
    const name = sandboxName.value
    if (needsToken.value) return
    clockState.value = undefined
    missingSandbox.value = undefined
    const leaving = new AbortController()
    isWaiting = true
    const cancel = after(MAX_WAIT, endWait)
    void follow(name, leaving.signal)
    return () => {
      cancel()
      leaving.abort()
    }
  })
  // While time runs, batches progress between two events, and the next event of the clock may be over already.
  every(5_000, () => {
    if (!document.hidden && (clockState.peek()?.rate ?? 0) > 0 && !isLost.peek()) loadClock()
  })
}

/** Runs an action of the user, and shows `done` or the error as a message. @returns whether it succeeded */
export async function act(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work()
    if (done !== undefined) toast('ok', done)
    changed()
    return true
  } catch (error) {
    toast('error', wordsOf(error))
    return false
  }
}
