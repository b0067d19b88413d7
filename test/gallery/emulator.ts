import { type SandboxClient, startEmulator } from 'agent-workspace-emulator'
import { afterAll, beforeAll } from 'vitest'
import { aGalleryBatch, START } from './situation.ts'

export type Emulator = Awaited<ReturnType<typeof startEmulator>>

const SILENT = { info: () => {}, warn: () => {}, error: () => {} }

/** The emulator of the tests of one file, and its sandboxes. */
export function sharedEmulator() {
  let running: Emulator | undefined
  const emulator = (): Emulator => {
    if (running === undefined) throw new Error('the emulator runs within tests only')
    return running
  }
  beforeAll(async () => {
    running = await startEmulator({ port: 0, ephemeral: true, rate: 0, clock: START, logger: SILENT })
  })
  afterAll(() => running?.close())
  const sandbox = (name?: string, start?: Parameters<Emulator['sandbox']>[1]) =>
    emulator().sandbox(name, start)
  return { emulator, sandbox }
}

/** Reads a path to its end. @returns the status */
export async function read(sandbox: SandboxClient, path: string): Promise<number> {
  const response = await sandbox.fetch(path)
  await response.arrayBuffer()
  return response.status
}

/** Creates a batch. @returns its id */
export async function newBatch(sandbox: SandboxClient, key?: string, changes: object = {}): Promise<string> {
  const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key }
  const json = { ...aGalleryBatch(), ...changes }
  const response = await sandbox.fetch('/batch-predictions', { json, headers })
  return ((await response.json()) as { readonly id: string }).id
}
