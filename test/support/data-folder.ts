import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import type { Document } from '../../src/core/state/state.ts'
import { type InternalOptions, openEmulator } from '../../src/emulator/emulator.ts'
import { START } from './base-state.ts'
import { type CallControl, type Called, controlOf } from './control.ts'
import { folder } from './disk-emulator.ts'

/** One run of an emulator on a data folder. */
export type Life = Awaited<ReturnType<typeof alive>>

/** The path of a data folder that does not exist yet; it is removed after the test. */
export function dataFolder(): string {
  return join(folder(onTestFinished), 'data')
}

/** Starts an emulator on a data folder: a sandbox without records, with a clock frozen at {@link START}. */
export async function alive(data: string, options: InternalOptions = {}) {
  /** The warnings and errors that were logged. */
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
  return { emulator, control, said, in: (sandbox: string) => controlOf(emulator, sandbox) }
}

/** Copies the data folder without its lock, as it would be after `kill -9` of its process. @returns the path of the copy */
export function killedData(data: string): string {
  const copy = dataFolder()
  cpSync(data, copy, { recursive: true, filter: (path) => basename(path) !== 'lock' })
  return copy
}

/** The files in a folder and its subfolders, without those that only a running process needs. */
export function filesIn(data: string): string[] {
  if (!existsSync(data)) return []
  return readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.name !== 'lock' && !each.name.endsWith('.journal'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(data.length + 1))
    .sort()
}

/** A document as text, without the fields that differ between sandboxes: the name, and the number of the last commit. */
export function contentOf({ revision: _, sandbox: __, ...rest }: Document): string {
  return JSON.stringify(rest)
}

/** Writes an organization whose name is its id. */
export function putOrganization(control: CallControl, id: string): Promise<Called> {
  return control('PUT', `/state/organizations/${id}`, { name: id })
}

/** The ids of all organizations. */
export async function organizations(control: CallControl): Promise<string[]> {
  return (await control('GET', '/state/organizations')).body.data.map(({ id }: { id: string }) => id)
}

/** Resolves when the emulator on a folder has written everything: each state file contains the text `last`. */
export async function quiet(data: string, files: readonly string[], last: string): Promise<void> {
  await vi.waitFor(() => {
    for (const file of files) expect(readFileSync(join(data, file), 'utf8')).toContain(last)
    const names = readdirSync(data, { recursive: true, encoding: 'utf8' })
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([])
    // After a checkpoint, the journal has only its first line.
    for (const file of files)
      expect(readFileSync(join(data, `${file}.journal`), 'utf8')).toMatch(/^[^\n]+\n$/)
  }, 30_000)
}
