import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Files } from '../../src/doors/disk/files.ts'
import type { Durability } from '../../src/doors/disk/log.ts'
import type { Notice } from '../../src/doors/disk/notice.ts'
import { openPersistence, type Persistence } from '../../src/doors/disk/persistence.ts'
import type { Later } from '../../src/doors/realtime.ts'
import { Ledger } from '../../src/kernel/assumptions.ts'
import { anyObject, fieldKit, text } from '../../src/kernel/fields.ts'
import { pointer } from '../../src/kernel/json.ts'
import { kernelAssumptions } from '../../src/kernel/open-items.ts'
import { type EventHandler, type Resource, type Service, service } from '../../src/kernel/operation.ts'
import { collection } from '../../src/kernel/state/collection.ts'
import type { Row } from '../../src/kernel/state/commit.ts'
import { buildWorld } from '../../src/kernel/state/starting-world.ts'
import { Sandbox } from '../../src/kernel/worlds/sandbox.ts'
import { worldDefaults } from '../../src/kernel/worlds/world.ts'

/** What the tests of this room need: a small service, a world of it, timers that run when told to, a folder. */

export const START = Date.parse('2026-03-01T12:00:00.000Z')

export interface Note extends Row {
  readonly text: string
  readonly parent_id?: string
  readonly meta?: Readonly<Record<string, unknown>>
}

const notes = collection<Note>({
  name: 'notes',
  label: 'note',
  schema: () => {
    const { object } = fieldKit('reject')
    const optional = { parent_id: text(1000).optional(), meta: anyObject().optional() }
    return object({ id: text(1000), text: text(200_000_000), ...optional }) as never
  },
  check: ({ parent_id }, tx) =>
    parent_id === undefined || tx.get('notes', parent_id) !== undefined
      ? []
      : [{ pointer: pointer('parent_id'), detail: `There is no note "${parent_id}".` }],
})

const shout: EventHandler = {
  kind: 'shout',
  says: 'Puts a note into capitals.',
  handle: ({ tx }, { ref }) => {
    const note = tx.in(notes).require(ref.slice('notes/'.length))
    tx.in(notes).put({ ...note, text: note.text.toUpperCase() })
  },
}

const room: Resource = { name: 'room', operations: [], collections: [notes], events: [shout] }
export const testService: Service = service([room])
export const testLedger = new Ledger([kernelAssumptions])

export function sandboxOptions(host: () => number = () => START) {
  return { ...worldDefaults, service: testService, ledger: testLedger, host }
}

/** A world that stands still, with these notes. */
export async function startingWorld(texts: Readonly<Record<string, string>> = {}, rate = 0) {
  const given = Object.entries(texts).map(([id, each]) => ({ id, text: each }))
  const start = {
    seed: 1,
    now: START,
    rate,
    skip_on_poll: false,
    settings: {},
    strict: false,
    host: () => START,
  }
  const built = await buildWorld(
    { collections: { notes: given }, generate: {} },
    start,
    testService,
    testLedger,
  )
  if ('issues' in built) throw new Error(JSON.stringify(built.issues))
  return built.world
}

/** Writes or removes one note in a commit of its own. */
export function put(sandbox: Sandbox, id: string, value: string | undefined, more: Partial<Note> = {}): void {
  sandbox.change(({ tx }) => {
    if (value === undefined) tx.delete('notes', id)
    else tx.put('notes', { id, text: value, ...more } as Note)
  })
}

/** The texts of all notes by id, in order. */
export function texts(sandbox: Sandbox): Record<string, string> {
  return Object.fromEntries(
    [...sandbox.store.rows('notes').values()].map((row) => [row.id, (row as Note).text]),
  )
}

/** Timers that only run when the test says so. */
export class HandTimers {
  readonly waiting: { readonly ms: number; readonly run: () => void }[] = []

  readonly later: Later = (ms, run) => {
    const timer = { ms, run }
    this.waiting.push(timer)
    return () => {
      const at = this.waiting.indexOf(timer)
      if (at !== -1) this.waiting.splice(at, 1)
    }
  }

  /** Runs what waits now. */
  fire(): void {
    for (const { run } of this.waiting.splice(0)) run()
  }
}

/** A new folder, removed by `cleanUp`. */
export function folder(cleanUp: (remove: () => void) => void): string {
  const path = mkdtempSync(join(tmpdir(), 'state-files-'))
  cleanUp(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export interface Opened {
  readonly persistence: Persistence
  readonly sandbox: Sandbox
  readonly notices: Notice[]
  readonly timers: HandTimers
  /** Whether the world came from the disk. */
  readonly found: boolean
}

export interface OpenOptions {
  readonly files?: Files
  readonly durability?: Durability
  readonly later?: Later
  readonly start?: Readonly<Record<string, string>>
  readonly rate?: number
}

/** Opens a state file as the composition root does. */
export async function open(file: string, options: OpenOptions = {}): Promise<Opened> {
  const { files, durability = 'process', start = {}, rate = 0 } = options
  const timers = new HandTimers()
  const notices: Notice[] = []
  const persistence = openPersistence({
    file,
    durability,
    later: options.later ?? timers.later,
    onNotice: (notice) => notices.push(notice),
    ...(files === undefined ? {} : { files }),
  })
  try {
    const loaded = await persistence.load(testService, testLedger, false)
    const world = loaded?.world ?? (await startingWorld(start, rate))
    const sandbox = new Sandbox(sandboxOptions(), world, loaded?.floor)
    await persistence.attach(sandbox)
    return { persistence, sandbox, notices, timers, found: loaded !== undefined }
  } catch (error) {
    await persistence.close()
    throw error
  }
}
