import type { SandboxClient, startEmulator } from 'agent-workspace-emulator'
import { bothWays } from '../library/both-ways.ts'
import { aGalleryBatch, START } from './situation.ts'

export type Emulator = Awaited<ReturnType<typeof startEmulator>>

const SILENT = { info: () => {}, warn: () => {}, error: () => {} }

export function sharedEmulator() {
  const { emulator } = bothWays({ clock: START, logger: SILENT })
  const sandbox = (name?: string, start?: Parameters<Emulator['sandbox']>[1]) =>
    emulator().sandbox(name, start)
  return { emulator, sandbox }
}

export async function read(sandbox: SandboxClient, path: string): Promise<number> {
  const response = await sandbox.fetch(path)
  await response.arrayBuffer()
  return response.status
}

export async function newBatch(sandbox: SandboxClient, key?: string, changes: object = {}): Promise<string> {
  const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key }
  const json = { ...aGalleryBatch(), ...changes }
  const response = await sandbox.fetch('/batch-predictions', { json, headers })
  return ((await response.json()) as { readonly id: string }).id
}
