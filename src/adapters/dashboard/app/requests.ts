import { effect, signal } from '@preact/signals'
import { ask, type Output } from './api.ts'
import { setBadge } from './badges.ts'
import { every } from './browser.ts'
import { isLost, onKinds } from './live.ts'
import { sandboxName } from './place.ts'

export type LogRow = Output<'GET /requests'>['data'][number]

/** The request log as far as it was loaded, newest first. */
export const logRows = signal<{
  readonly entries: readonly LogRow[]
  readonly dropped: number
  readonly capacity: number
  readonly isLoaded: boolean
  readonly error?: unknown
}>({ entries: [], dropped: 0, capacity: 0, isLoaded: false })

const MAX_ROWS = 100_000

let isLoading = false
let isStale = false
let isWhole = false

/** Loads what is new of the log: all of it at first, and after the state was replaced or the log emptied. */
async function load(): Promise<void> {
  isStale = true
  if (isLoading) return
  isLoading = true
  while (isStale) {
    isStale = false
    const name = sandboxName.peek()
    const { entries } = logRows.peek()
    const settled = settledFrom(entries)
    const newest = isWhole ? entries[settled] : undefined
    try {
      const list = await ask('GET /requests', {
        query: { limit: String(MAX_ROWS), ...(newest && { since: newest.id }) },
      })
      if (name !== sandboxName.peek()) continue
      const added = [...list.data].reverse()
      const kept =
        newest === undefined ? added : [...added, ...entries.slice(settled)].slice(0, list.capacity)
      isWhole = true
      logRows.value = { entries: kept, dropped: list.dropped, capacity: list.capacity, isLoaded: true }
    } catch (error) {
      // The log was emptied, or has turned over: the id is not in it any more.
      if (newest !== undefined) {
        isWhole = false
        isStale = true
      } else logRows.value = { ...logRows.peek(), isLoaded: true, error }
    }
  }
  isLoading = false
}

// The newest of which nothing more becomes known: requests before it may still be going on.
function settledFrom(entries: readonly LogRow[]): number {
  const running = entries.slice(0, MOST_RUNNING).findLastIndex(isRunning)
  return running + 1
}

const MOST_RUNNING = 100

// What a fault holds open has no end yet.
const isRunning = ({ took_ms, end }: LogRow) => took_ms === null && end === null

/** Follows the request log of the present sandbox. @returns whether it holds any request */
export async function startRequests(): Promise<boolean> {
  onKinds((kinds) => {
    if (kinds.has('reload') || kinds.has('sandbox')) isWhole = false
    if (kinds.has('request') || !isWhole) void load()
  })
  effect(() => {
    void sandboxName.value
    isWhole = false
    logRows.value = { entries: [], dropped: 0, capacity: 0, isLoaded: false }
    void load()
  })
  every(1_000, () => {
    if (!document.hidden && !isLost.peek() && settledFrom(logRows.peek().entries) > 0) void load()
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
