import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Files } from '../../src/adapters/storage/files.ts'
import type { StorageNotice } from '../../src/adapters/storage/notice.ts'
import { Persistence } from '../../src/adapters/storage/persistence.ts'
import { anyObject, fieldKit, text } from '../../src/core/fields.ts'
import { pointer } from '../../src/core/json.ts'
import type { EventHandler } from '../../src/core/operation.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import { Sandbox, sandboxDefaults } from '../../src/core/sandboxes/sandbox.ts'
import type { Resource } from '../../src/core/service.ts'
import { type Service, service } from '../../src/core/service.ts'
import { collection } from '../../src/core/state/collection.ts'
import type { Row } from '../../src/core/state/commit.ts'
import type { Later } from '../../src/core/time/realtime.ts'
import { serviceFacts } from '../../src/emulator/service.ts'
import { builtState, startAt } from './built-state.ts'

/** For the tests of storage: a small service, a sandbox of it, timers that the test runs, and a folder. */

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
  description: 'Puts a note into capitals.',
  handle: ({ tx }, { ref }) => {
    const note = tx.in(notes).require(ref.slice('notes/'.length))
    tx.in(notes).put({ ...note, text: note.text.toUpperCase() })
  },
}

const resource: Resource = { name: 'resource', operations: [], collections: [notes], events: [shout] }
export const testService: Service = service([resource], serviceFacts)

export function sandboxOptions(host: () => number = () => START) {
  return { ...sandboxDefaults, service: testService, host }
}

/** A sandbox with a frozen clock and these notes. */
export async function startingState(texts: Readonly<Record<string, string>> = {}, rate = 0) {
  const given = Object.entries(texts).map(([id, each]) => ({ id, text: each }))
  const start = startAt(START, { rate })
  return builtState({ collections: { notes: given } }, start, testService)
}

/** Writes or removes one note in a separate commit. */
export function put(sandbox: Sandbox, id: string, value: string | undefined, more: Partial<Note> = {}): void {
  change(sandbox, ({ tx }) => {
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

/** Timers that run only when the test runs them. */
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

  /** Runs the timers that are waiting now. */
  fire(): void {
    for (const { run } of this.waiting.splice(0)) run()
  }
}

/** Creates a folder that `cleanUp` removes. */
export function folder(cleanUp: (remove: () => void) => void): string {
  const path = mkdtempSync(join(tmpdir(), 'state-files-'))
  cleanUp(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export type Opened = Awaited<ReturnType<typeof open>>

export interface OpenOptions {
  readonly files?: Files
  readonly discardJournal?: boolean
  readonly later?: Later
  readonly start?: Readonly<Record<string, string>>
  readonly rate?: number
  readonly host?: () => number
}

/** Opens a state file in the same way as the composition root. */
export async function open(file: string, options: OpenOptions = {}) {
  const { files, discardJournal, start = {}, rate = 0, host } = options
  const timers = new HandTimers()
  const notices: StorageNotice[] = []
  const persistence = new Persistence({
    file,
    discardJournal,
    importCommand: (path) => `import ${path}`,
    later: options.later ?? timers.later,
    onNotice: (notice) => notices.push(notice),
    ...(files === undefined ? {} : { files }),
  })
  try {
    const loaded = persistence.load(testService, false)
    const state = loaded?.state ?? (await startingState(start, rate))
    const sandbox = new Sandbox(sandboxOptions(host), state, loaded?.floor)
    persistence.attach(sandbox)
    /** `found`: whether the sandbox was loaded from the disk. */
    return { persistence, sandbox, notices, timers, found: loaded !== undefined }
  } catch (error) {
    persistence.close()
    throw error
  }
}
