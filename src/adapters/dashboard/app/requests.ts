import { computed, effect, signal } from '@preact/signals'
import { ask, type Output } from './api.ts'
import { setBadge } from './badges.ts'
import { after, coalesced, every, perFrame } from './browser.ts'
import { isLost, isReloadDue, onKinds } from './live.ts'
import { sandboxName } from './place.ts'

export type LogRow = Output<'GET /requests'>['data'][number]

interface Log {
  /** Newest first. */
  readonly entries: readonly LogRow[]
  readonly dropped: number
  readonly capacity: number
  readonly isLoaded: boolean
  readonly error?: unknown
}

const NOTHING: Log = { entries: [], dropped: 0, capacity: 0, isLoaded: false }

/** The request log as far as it was loaded. However much arrives, it changes at most once in each frame. */
export const logRows = signal<Log>(NOTHING)

let faulted: readonly LogRow[] = []

/** The entries in which a fault fired; the same list while none is added. */
export const faultedRows = computed(() => {
  const next = logRows.value.entries.filter(({ faults }) => faults.length > 0)
  const isSame = next.length === faulted.length && next.every((row, index) => row === faulted[index])
  if (!isSame) faulted = next
  return faulted
})

let log = NOTHING

const publish = perFrame(() => {
  logRows.value = log
})

function keepLog(next: Log): void {
  log = next
  publish()
}

/** Entries of one call: the first are shown at once, and older ones come in turns that keep the page quick. */
const [FIRST, TURN] = [200, 500]

/** More than any log holds. */
const MOST = 100_000

let isWhole = false

/** Loads what is new of the log: all of it at first, and after the state was replaced or the log emptied. */
async function loadNew(): Promise<void> {
  if (!isWhole) return loadAll()
  const name = sandboxName.peek()
  const { entries } = log
  const settled = settledFrom(entries)
  const newest = entries[settled]
  if (newest === undefined) return loadAll()
  try {
    const list = await ask('GET /requests', { query: { limit: String(MOST), since: newest.id } })
    if (name === sandboxName.peek()) show(list, [...list.data.toReversed(), ...entries.slice(settled)])
  } catch {
    // The log was emptied, or has turned over: the id is not in it any more.
    await loadAll()
  }
}

async function loadAll(): Promise<void> {
  const name = sandboxName.peek()
  isWhole = true
  try {
    const list = await ask('GET /requests', { query: { limit: String(FIRST) } })
    if (name !== sandboxName.peek()) return
    show(list, list.data.toReversed())
    if (list.matched > list.data.length) await loadOlder(name)
  } catch (error) {
    isWhole = false
    keepLog({ ...log, isLoaded: true, error })
  }
}

async function loadOlder(name: string): Promise<void> {
  for (;;) {
    // What is asked for at the same time is seen first.
    await new Promise<void>((resolve) => after(100, resolve))
    const { entries } = log
    const before = entries.at(-1)?.id ?? ''
    // An entry that the log has dropped since had none before it.
    const list = await ask('GET /requests', { query: { limit: String(TURN), before } }).catch(() => undefined)
    if (list === undefined || name !== sandboxName.peek() || !isWhole) return
    show(list, [...entries, ...list.data.toReversed()])
    if (list.matched <= list.data.length) return
  }
}

function show({ capacity, dropped }: Output<'GET /requests'>, entries: readonly LogRow[]): void {
  keepLog({ entries: entries.slice(0, capacity), dropped, capacity, isLoaded: true })
}

const inTurn = coalesced()
const load = () => inTurn(loadNew)

// The newest of which nothing more becomes known: requests before it may still be going on.
function settledFrom(entries: readonly LogRow[]): number {
  const running = entries.slice(0, MOST_RUNNING).findLastIndex(isRunning)
  return running + 1
}

const MOST_RUNNING = 100

// What a fault holds open has no end yet.
const isRunning = ({ duration_ms, end }: LogRow) => duration_ms === null && end === null

/** Follows the request log of the present sandbox. @returns whether it holds any request */
export async function startRequests(): Promise<boolean> {
  onKinds((kinds) => {
    if (kinds.has('reload') || kinds.has('sandbox')) isWhole = false
    if (kinds.has('request') || !isWhole) load()
  })
  effect(() => {
    void sandboxName.value
    isWhole = false
    log = NOTHING
    logRows.value = NOTHING
    if (!isReloadDue()) load()
  })
  every(1_000, () => {
    if (!document.hidden && !isLost.peek() && settledFrom(log.entries) > 0) load()
  })
  effect(() => setBadge('requests', logRows.value.entries.length))
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (!logRows.value.isLoaded) return
      resolve(logRows.value.entries.length > 0)
      queueMicrotask(() => stop())
    })
  })
}
