import { cpSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator.ts'
import type { Document } from '../../src/kernel/state.ts'
import { START } from './base-world.ts'
import { folder } from './disk-world.ts'

/** An answer of the control interface. */
export interface Called {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape; the assertions are the types.
  readonly body: any
}

export type CallControl = (method: string, path: string, json?: unknown) => Promise<Called>

/** The control interface of one sandbox of a running emulator. */
export function controlOf({ controlUrl }: Pick<Emulator, 'controlUrl'>, name = 'default'): CallControl {
  const prefix = name === 'default' ? '' : `/@${name}`
  return async (method, path, json) => {
    const response = await fetch(controlUrl.replace('/__emulator', `${prefix}/__emulator`) + path, {
      method,
      ...(json === undefined
        ? {}
        : { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
}

/** A process on a data folder. */
export interface Life {
  readonly emulator: Emulator
  readonly control: CallControl
  /** What the logger was told as a warning or an error. */
  readonly said: readonly string[]
  in(sandbox: string): CallControl
}

/** A data folder that is not there yet, gone at the end of the test. */
export function dataFolder(): string {
  return join(folder(onTestFinished), 'data')
}

/** Starts an emulator on a data folder, on a world without records, its clock standing at {@link START}. */
export async function alive(data: string, options: EmulatorOptions = {}): Promise<Life> {
  const said: string[] = []
  const emulator = await startEmulator({
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

/** The data folder as a process that is killed now would leave it, locks aside. */
export function killedData(data: string): string {
  const copy = dataFolder()
  cpSync(data, copy, { recursive: true, filter: (path) => !path.endsWith('.lock') })
  return copy
}

/** The files below a folder, without those that a running process needs. */
export function filesIn(data: string): string[] {
  if (!existsSync(data)) return []
  return readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && !/\.(log|lock)$/.test(each.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(data.length + 1))
    .sort()
}

/** All of a document but what differs between sandboxes and between histories: its sandbox's name and its last commit's number. */
export function contentOf({ revision: _, sandbox: __, ...rest }: Document): string {
  return JSON.stringify(rest)
}
