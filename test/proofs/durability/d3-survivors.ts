import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Files } from '../../../src/doors/disk/files.ts'
import { SnapshotFiles } from '../../../src/doors/disk/snapshot-files.ts'
import type { Store } from '../../../src/kernel/state/store.ts'
import { Snapshots } from '../../../src/kernel/worlds/snapshots.ts'
import {
  type Note,
  type Opened,
  open,
  put,
  testLedger,
  testService,
  texts,
} from '../../support/disk-world.ts'
import { unsynced } from '../../support/mortal-files.ts'

export type Notes = Readonly<Record<string, string>>

/** The note that a hand edit adds, and its text. */
export const [BY_HAND, EDITED] = ['by-hand', 'edited']

/** What was acknowledged, and what may be there besides. */
export interface Model {
  notes: Notes
  /** If the commit under way at the end got into the log after all. */
  possible: Notes
  readonly snapshots: Map<string, Notes>
  /** Savings and deletions of snapshots that were refused, or under way at the end: they may have taken effect all the same. */
  unsure: { readonly name: string; readonly notes: Notes | undefined }[]
  /** Whether the file was edited by hand: the note `by-hand` has to come out of that. */
  edited: boolean
  /** Whether it was edited into something invalid, which has to be kept beside. */
  refused: boolean
}

/** What the next process finds, and whether it can go on with it. */
export async function survivors(folder: string, model: Model) {
  const [lost, unreadable]: [string[], string[]] = [[], []]
  // The process that died here lives on as this one.
  for (const name of readdirSync(folder)) if (name.includes('.lock')) rmSync(join(folder, name))
  const file = join(folder, 'world.json')
  const again = await open(file, { files: unsynced })
  const notes = texts(again.sandbox)
  if (!acceptable(model).includes(JSON.stringify(notes))) lost.push(difference(model.notes, notes))
  if (model.edited && notes[BY_HAND] !== EDITED) lost.push('an edit by hand')
  // An edit of which the log does not say yet that it was taken is in force, and the log is kept.
  const harmless = ['log_torn', 'edited_while_stopped', ...(model.edited ? ['log_orphaned'] : [])]
  const bad = again.notices.filter(({ event }) => !harmless.includes(event))
  unreadable.push(...bad.map(({ message }) => message))
  lost.push(...(await lostSnapshots(folder, again, model)))
  put(again.sandbox, 'z', 'life goes on')
  await again.persistence.close()
  const third = await open(file, { files: unsynced })
  if (JSON.stringify(texts(third.sandbox)) !== JSON.stringify({ ...notes, z: 'life goes on' }))
    lost.push('what was written after the restart')
  await third.persistence.close()
  const left = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  unreadable.push(
    ...left.filter((name) => (model.edited ? /\.tmp$|corrupt/ : /\.tmp$|corrupt|orphaned/).test(name)),
  )
  return { lost, unreadable }
}

function acceptable({ notes, possible, edited }: Model): string[] {
  const withEdit = edited ? [{ ...notes, [BY_HAND]: EDITED }] : []
  return [notes, possible, ...withEdit].map((each) => JSON.stringify(each))
}

function difference(expected: Notes, found: Notes): string {
  const ids = new Set([...Object.keys(expected), ...Object.keys(found)])
  const differing = [...ids].filter((id) => expected[id] !== found[id])
  return (
    differing.map((id) => `${id}: ${expected[id]} became ${found[id]}`).join(', ') || 'the order of notes'
  )
}

async function lostSnapshots(
  folder: string,
  { sandbox }: Opened,
  { snapshots, unsure }: Model,
): Promise<string[]> {
  const shelf = shelfIn(folder, unsynced)
  shelf.sweep()
  const found = new Snapshots(sandbox, shelf)
  const lost: string[] = []
  for (const name of new Set([...snapshots.keys(), ...shelf.names()])) {
    const world = await found.world(name).catch(() => undefined)
    const notes = world && JSON.stringify(textsIn(world.store))
    const attempted = unsure.filter((each) => each.name === name)
    const possible = [snapshots.get(name), ...attempted.map((each) => each.notes)]
    if (!possible.some((each) => JSON.stringify(each) === notes)) lost.push(`the snapshot ${name}`)
  }
  return lost
}

function textsIn(store: Store): Notes {
  return Object.fromEntries([...store.rows('notes').values()].map((row) => [row.id, (row as Note).text]))
}

/** The snapshots beside a state file. */
export function shelfIn(folder: string, files: Files): SnapshotFiles {
  return new SnapshotFiles({
    directory: join(folder, 'snapshots'),
    sandbox: 'default',
    context: { service: testService, ledger: testLedger, strict: false },
    onNotice: () => {},
    files,
  })
}
