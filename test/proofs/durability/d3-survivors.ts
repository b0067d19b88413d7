import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Files } from '../../../src/adapters/storage/files.ts'
import { SnapshotFiles } from '../../../src/adapters/storage/snapshots.ts'
import { Snapshots } from '../../../src/core/sandboxes/snapshots.ts'
import type { Store } from '../../../src/core/state/store.ts'
import {
  type Note,
  type Opened,
  open,
  put,
  testAssumptions,
  testService,
  texts,
} from '../../support/disk-emulator.ts'
import { unsynced } from '../../support/mortal-files.ts'

export type Notes = Readonly<Record<string, string>>

/** The id and text of the note that a hand edit adds. */
export const [BY_HAND, EDITED] = ['by-hand', 'edited']

/** The acknowledged state, and states that are also allowed. */
export interface Model {
  notes: Notes
  /** The notes if the commit in flight at the end was written after all. */
  possible: Notes
  readonly snapshots: Map<string, Notes>
  /** Snapshot saves and deletions that were refused or in flight at the end: they may still have taken effect. */
  unsure: { readonly name: string; readonly notes: Notes | undefined }[]
  /** Whether the file was edited by hand, so that the note `by-hand` must exist. */
  edited: boolean
  /** Whether it was edited into an invalid file, which must be kept as a separate file. */
  refused: boolean
}

/** The state that the next process finds, and whether it can continue. */
export async function survivors(folder: string, model: Model) {
  const [lost, unreadable]: [string[], string[]] = [[], []]
  // The simulated process is this one and still runs, so its lock must be removed.
  for (const name of readdirSync(folder)) if (name.includes('.lock')) rmSync(join(folder, name))
  const file = join(folder, 'sandbox.json')
  const again = await open(file, { files: unsynced })
  const notes = texts(again.sandbox)
  if (!acceptable(model).includes(JSON.stringify(notes))) lost.push(difference(model.notes, notes))
  if (model.edited && notes[BY_HAND] !== EDITED) lost.push('an edit by hand')
  // An edit that the journal does not record yet is accepted now.
  const harmless = ['journal_torn', ...(model.edited ? ['edit_taken'] : [])]
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
  unreadable.push(...left.filter((name) => /\.tmp$|corrupt|orphaned|replaced/.test(name)))
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
  const snapshotStore = snapshotsIn(folder, unsynced)
  snapshotStore.sweep()
  const found = new Snapshots(sandbox, snapshotStore)
  const lost: string[] = []
  for (const name of new Set([...snapshots.keys(), ...snapshotStore.names()])) {
    const state = await found.sandbox(name).catch(() => undefined)
    const notes = state && JSON.stringify(textsIn(state.store))
    const attempted = unsure.filter((each) => each.name === name)
    const possible = [snapshots.get(name), ...attempted.map((each) => each.notes)]
    if (!possible.some((each) => JSON.stringify(each) === notes)) lost.push(`the snapshot ${name}`)
  }
  return lost
}

function textsIn(store: Store): Notes {
  return Object.fromEntries([...store.rows('notes').values()].map((row) => [row.id, (row as Note).text]))
}

/** The snapshots next to a state file. */
export function snapshotsIn(folder: string, files: Files): SnapshotFiles {
  return new SnapshotFiles({
    directory: join(folder, 'snapshots'),
    sandbox: 'default',
    context: { service: testService, assumptions: testAssumptions, strict: false },
    onNotice: () => {},
    files,
  })
}
