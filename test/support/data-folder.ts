import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { LOCK } from '../../src/adapters/lock-file.ts'
import type { Document } from '../../src/core/state/state.ts'
import { type InternalOptions, openEmulator, type RunningEmulator } from '../../src/emulator.ts'
import { START } from './base-state.ts'
import { type CallControl, type Called, controlOf } from './control.ts'
import { folder } from './disk-emulator.ts'

/** A process on a data folder. */
export interface Life {
  readonly emulator: RunningEmulator
  readonly control: CallControl
  /** What the logger was told as a warning or an error. */
  readonly said: readonly string[]
  in(sandbox: string): CallControl
}

/** A data folder that is not there yet, gone at the end of the test. */
export function dataFolder(): string {
  return join(folder(onTestFinished), 'data')
}

/** Starts an emulator on a data folder, on a sandbox without records, its clock standing at {@link START}. */
export async function alive(data: string, options: InternalOptions = {}): Promise<Life> {
  const said: string[] = []
  const emulator = await openEmulator({
    port: 0,
    clock: START,
    rate: 0,
    fixtures: { collections: {} },
    data,
    logger: { info: () => {}, warn: (text) => said.push(text), error: (text) => said.push(text) },
    ...options,
  })
  onTestFinished(() => emulator.close())
  const control = controlOf(emulator)
  return { emulator, control, said, in: (sandbox) => controlOf(emulator, sandbox) }
}

/** The data folder as a process that is killed now would leave it, its lock aside. */
export function killedData(data: string): string {
  const copy = dataFolder()
  cpSync(data, copy, { recursive: true, filter: (path) => basename(path) !== LOCK })
  return copy
}

/** The files below a folder, without those that a running process needs. */
export function filesIn(data: string): string[] {
  if (!existsSync(data)) return []
  return readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.name !== LOCK && !/\.(journal(\.\d+)?|previous)$/.test(each.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(data.length + 1))
    .sort()
}

/** All of a document but what differs between sandboxes and between histories: its sandbox's name and its last commit's number. */
export function contentOf({ revision: _, sandbox: __, ...rest }: Document): string {
  return JSON.stringify(rest)
}

/** Writes the record of an organization whose name is its id. */
export function putOrganization(control: CallControl, id: string): Promise<Called> {
  return control('PUT', `/state/organizations/${id}`, { name: id })
}

/** The ids of the organizations. */
export async function organizations(control: CallControl): Promise<string[]> {
  return (await control('GET', '/state/organizations')).body.data.map(({ id }: { id: string }) => id)
}

/** Resolves when the emulator on a folder has nothing left to write: each state file has what was written last. */
export async function quiet(data: string, files: readonly string[], last: string): Promise<void> {
  await vi.waitFor(() => {
    for (const file of files) expect(readFileSync(join(data, file), 'utf8')).toContain(last)
    const names = readdirSync(data, { recursive: true, encoding: 'utf8' })
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([])
    // The last line of the journal says that the checkpoint stands.
    for (const file of files)
      expect(readFileSync(join(data, `${file}.journal`), 'utf8')).toMatch(/"checkpoint":true\}\}\n$/)
    // After that, all journals before it are removed but the one that continues the previous checkpoint.
    for (const file of files)
      expect(names.filter((name) => name.startsWith(`${file}.journal.`)).length).toBeLessThan(2)
  }, 30_000)
}
