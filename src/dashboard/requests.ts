import { effect, signal } from '@preact/signals'
import { ask, type Output } from './api.ts'
import { after, coalesced, download, every, perFrame } from './browser.ts'
import { pretty } from './format.ts'
import { act, isLost, isReloadDue, missingSandbox, onKinds } from './live.ts'
import { sandboxName } from './place.ts'
import { copy, toast } from './toasts.ts'

export type LogRow = Output<'GET /requests'>['data'][number]

const NO_ENTRIES: readonly LogRow[] = []
const NOTHING = { entries: NO_ENTRIES, dropped: 0, capacity: 0, isLoaded: false, error: undefined as unknown }

/** The loaded part of the request log, newest first. It changes at most once per frame, however many requests arrive. */
export const logRows = signal(NOTHING)

/** Whether the client did not get what it asked for. */
export const hasFailed = ({ status, end, cors }: Pick<LogRow, 'status' | 'end' | 'cors'>): boolean =>
  end !== null || status === 0 || status >= 400 || cors !== undefined

let log = NOTHING

const publish = perFrame(() => {
  logRows.value = log
})

function keepLog(next: typeof NOTHING): void {
  log = next
  publish()
}

/** Entries per call: the first ones are shown at once, older ones are loaded in parts, so that the page stays quick. */
const [FIRST, TURN] = [200, 500]

/** More entries than any log has. */
const MAX_ROWS = 100_000

let isWhole = false

/** Loads the new entries of the log; all entries at first, and after the state was replaced or the log was emptied. */
async function loadNew(): Promise<void> {
  if (!isWhole) return loadAll()
  const name = sandboxName.peek()
  const { entries } = log
  const settled = settledFrom(entries)
  const newest = entries[settled]
  if (newest === undefined) return loadAll()
  try {
    const list = await ask('GET /requests', { query: { limit: String(MAX_ROWS), since: newest.id } })
    if (name === sandboxName.peek()) show(list, [...list.data.toReversed(), ...entries.slice(settled)])
  } catch {
    // The log was emptied, or has dropped this entry: it has no such id any more.
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
    // Gives the other calls of the page time to run first.
    await new Promise<void>((resolve) => after(100, resolve))
    const { entries } = log
    const before = entries.at(-1)?.id ?? ''
    // The call fails if the log has dropped this entry since. There are no older ones then.
    const list = await ask('GET /requests', { query: { limit: String(TURN), before } }).catch(() => undefined)
    if (list === undefined || name !== sandboxName.peek() || !isWhole) return
    show(list, [...entries, ...list.data.toReversed()])
    if (list.matched <= list.data.length) return
  }
}

function show({ capacity, dropped }: Output<'GET /requests'>, entries: readonly LogRow[]): void {
  keepLog({ ...NOTHING, entries: entries.slice(0, capacity), dropped, capacity, isLoaded: true })
}

const load = coalesced(loadNew)

// The index of the newest entry that is older than all running requests: newer entries can still change.
const settledFrom = (entries: readonly LogRow[]): number =>
  entries.slice(0, MAX_RUNNING).findLastIndex(isRunning) + 1

const MAX_RUNNING = 100

// A request that a fault holds open has no duration either, but it has an `end`.
const isRunning = ({ duration_ms, end }: LogRow) => duration_ms === null && end === null

/** Follows the request log of the current sandbox. @returns whether it has any request */
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
  effect(() => {
    if (missingSandbox.value !== undefined) keepLog({ ...NOTHING, isLoaded: true })
  })
  return new Promise((resolve) =>
    effect(() => {
      const { entries, isLoaded } = logRows.value
      // Only the first call counts.
      if (isLoaded) resolve(entries.length > 0)
    }),
  )
}

/** Saves the recording of the present sandbox as a file, and says what to do with it. */
export async function saveRecording(): Promise<void> {
  const file = `${sandboxName.value}-recording.json`
  const command = `npx agent-workspace-emulator replay ${file}`
  if (!(await act(async () => download(file, pretty(await ask('GET /record')))))) return
  toast('ok', `${file} is saved. To repeat it: ${command}`, {
    label: 'Copy command',
    run: () => copy(command),
  })
}
