import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Files } from '../../../src/doors/disk/files.ts'
import { checkDocument } from '../../../src/kernel/state/document.ts'
import { KERNEL_TABLES, WORLD } from '../../../src/kernel/state/state.ts'
import type { Store } from '../../../src/kernel/state/store.ts'
import type { Sandbox } from '../../../src/kernel/worlds/sandbox.ts'
import { open, put, START, testLedger, testService } from '../../support/disk-world.ts'
import { unsynced } from '../../support/mortal-files.ts'

/** The files of a process that was killed: a state file, and its log. */
export interface Crashed {
  /** By name. */
  readonly files: ReadonlyMap<string, Buffer>
  /** The world as the state file has it, and after each commit that the log holds. */
  readonly states: readonly string[]
}

const COMMITS = 40

/** What has happened half way: nothing, a checkpoint that failed, or an edit of the file by hand, and then that. */
export const HALF_WAY = ['nothing', 'a failed checkpoint', 'an edit'] as const
export type HalfWay = (typeof HALF_WAY)[number]

/** Lives through commits of every kind, and is killed. @param file in an empty folder */
export async function crashedWorld(file: string, halfWay: HalfWay): Promise<Crashed> {
  let full = false
  const files: Files = {
    ...unsynced,
    writeSoon: (...args) => (full ? Promise.reject(new Error('ENOSPC')) : unsynced.writeSoon(...args)),
  }
  const start = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`start-${n}`, `é "${n}"\n${'x'.repeat(120)}`]),
  )
  const { sandbox, persistence } = await open(file, { files, start })
  let states = [stateOf(sandbox.store)]
  const commit = (n: number): void => {
    if (n % 5 === 1) put(sandbox, `start-${n}`, undefined)
    else if (n % 5 === 2) put(sandbox, `start-${n}`, `changed ${n}`)
    else if (n % 5 === 3) sandbox.setSettings({ unknown_fields: n % 2 === 0 ? 'reject' : 'ignore' })
    else if (n % 5 === 4) shoutLater(sandbox, n)
    else
      put(sandbox, n === 0 ? '__proto__' : `note-${n}`, `ü\u2028${'y'.repeat(150)}`, {
        meta: { __proto__: null, n },
      })
    states.push(stateOf(sandbox.store))
  }
  for (let n = 0; n < COMMITS / 2; n++) commit(n)
  full = true
  const edited = halfWay === 'an edit' ? edit(file) : undefined
  if (halfWay !== 'nothing') await persistence.checkpointNow().catch(() => {})
  // What was before the edit is not to be had without it.
  if (edited !== undefined) states = [edited, stateOf(sandbox.store)]
  for (let n = COMMITS / 2; n < COMMITS; n++) commit(n)
  const left = filesBeside(file)
  await persistence.close()
  return { files: left, states }
}

/** Adds a note to the file by hand; the world that the file alone would be. */
function edit(file: string): string {
  const document = JSON.parse(readFileSync(file, 'utf8'))
  document.collections.notes.push({ id: 'by-hand', text: 'edited' })
  writeFileSync(file, JSON.stringify(document, null, 2))
  const checked = checkDocument(document, testService, testLedger, false)
  if ('issues' in checked) throw new Error('the edit is wrong')
  return stateOf(checked.world.store)
}

function shoutLater(sandbox: Sandbox, n: number): void {
  const due = START + n * 60_000
  sandbox.change(({ schedule }) =>
    schedule({ kind: 'shout', ref: `notes/start-${n}`, due, urgency: 'work', says: 'shout' }),
  )
}

/** Everything that a world holds, in a form that can be compared. */
export function stateOf(store: Store): string {
  const tables = ['notes', ...Object.values(KERNEL_TABLES)].map((table) => [
    table,
    [...store.rows(table).values()],
  ])
  const facts = [...store.rows(WORLD).values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  return JSON.stringify({ tables, facts, revision: store.revision })
}

/** Contents by name, locks aside: as the next process finds them. */
function filesBeside(file: string): Map<string, Buffer> {
  const names = readdirSync(dirname(file)).filter(
    (name) => name.startsWith(basename(file)) && !name.includes('.lock'),
  )
  return new Map(names.map((name) => [name, readFileSync(join(dirname(file), name))]))
}
