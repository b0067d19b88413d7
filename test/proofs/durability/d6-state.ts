import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Files } from '../../../src/adapters/storage/files.ts'
import { change, setSettings } from '../../../src/core/sandboxes/change.ts'
import type { Sandbox } from '../../../src/core/sandboxes/sandbox.ts'
import { checkDocument } from '../../../src/core/state/document.ts'
import { CORE_TABLES, SANDBOX_TABLE } from '../../../src/core/state/state.ts'
import type { Store } from '../../../src/core/state/store.ts'
import { open, put, START, testAssumptions, testService } from '../../support/disk-emulator.ts'
import { unsynced } from '../../support/mortal-files.ts'

/** The files of a killed process: a state file, the previous one, and the journal of both. */
export interface Crashed {
  /** Contents by name. */
  readonly files: ReadonlyMap<string, Buffer>
  /** The sandbox at the start, and after each commit. */
  readonly states: readonly string[]
  /** The sandbox of the state file alone, if the file was edited. */
  readonly edited: string | undefined
}

const COMMITS = 40

/** The event in the middle of the run: none, a failed checkpoint, or an edit of the file by hand and then a failed checkpoint. */
export const HALF_WAY = ['nothing', 'a failed checkpoint', 'an edit'] as const
export type HalfWay = (typeof HALF_WAY)[number]

/** Runs through commits of every kind, and is killed. @param file in an empty folder */
export async function crashedEmulator(file: string, halfWay: HalfWay): Promise<Crashed> {
  let full = false
  const files: Files = {
    ...unsynced,
    writeSoon: (...args) => (full ? Promise.reject(new Error('ENOSPC')) : unsynced.writeSoon(...args)),
  }
  const start = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`start-${n}`, `é "${n}"\n${'x'.repeat(120)}`]),
  )
  const { sandbox, persistence } = await open(file, { files, start })
  const states = [stateOf(sandbox.store)]
  const commit = (n: number): void => {
    if (n % 5 === 1) put(sandbox, `start-${n}`, undefined)
    else if (n % 5 === 2) put(sandbox, `start-${n}`, `changed ${n}`)
    else if (n % 5 === 3) setSettings(sandbox, { unknown_fields: n % 2 === 0 ? 'reject' : 'ignore' })
    else if (n % 5 === 4) shoutLater(sandbox, n)
    else
      put(sandbox, n === 0 ? '__proto__' : `note-${n}`, `ü\u2028${'y'.repeat(150)}`, {
        meta: { __proto__: null, n },
      })
    states.push(stateOf(sandbox.store))
  }
  for (let n = 0; n < COMMITS / 4; n++) commit(n)
  await persistence.checkpointNow()
  for (let n = COMMITS / 4; n < COMMITS / 2; n++) commit(n)
  full = true
  const edited = halfWay === 'an edit' ? edit(file) : undefined
  if (halfWay !== 'nothing') await persistence.checkpointNow().catch(() => {})
  states.push(stateOf(sandbox.store))
  for (let n = COMMITS / 2; n < COMMITS; n++) commit(n)
  const left = filesBeside(file)
  await persistence.close()
  return { files: left, states, edited }
}

/** Adds a note to the file by hand. @returns the sandbox of the file alone */
function edit(file: string): string {
  const document = JSON.parse(readFileSync(file, 'utf8'))
  document.collections.notes.push({ id: 'by-hand', text: 'edited' })
  writeFileSync(file, JSON.stringify(document, null, 2))
  const checked = checkDocument(document, testService, testAssumptions, false)
  if ('issues' in checked) throw new Error('the edit is wrong')
  return stateOf(checked.state.store)
}

function shoutLater(sandbox: Sandbox, n: number): void {
  const due = START + n * 60_000
  change(sandbox, ({ schedule }) =>
    schedule({ kind: 'shout', ref: `notes/start-${n}`, due, urgency: 'work', description: 'shout' }),
  )
}

/** The whole state of a sandbox as text that can be compared. */
export function stateOf(store: Store): string {
  const tables = ['notes', ...Object.values(CORE_TABLES)].map((table) => [
    table,
    [...store.rows(table).values()],
  ])
  const facts = [...store.rows(SANDBOX_TABLE).values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  return JSON.stringify({ tables, facts, revision: store.revision })
}

/** Contents by name, without locks, as the next process finds them. */
function filesBeside(file: string): Map<string, Buffer> {
  const names = readdirSync(dirname(file)).filter(
    (name) => name.startsWith(basename(file)) && !name.includes('.lock'),
  )
  return new Map(names.map((name) => [name, readFileSync(join(dirname(file), name))]))
}
