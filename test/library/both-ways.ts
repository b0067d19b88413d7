import { afterAll, beforeAll } from 'vitest'
import type { EmulatorOptions } from '../../src/emulator/options.ts'
import {
  aBatch,
  connect,
  type Emulator,
  type EmulatorClient,
  type SandboxClient,
  startEmulator,
} from '../../src/index.ts'

/** A transport to the same emulator (in process or HTTP): its name, and a client that exists only during tests. */
export type Way = readonly [name: string, client: () => EmulatorClient]

/** An emulator in memory for the tests of one file, with a frozen clock, and a client for each transport. */
export function bothWays(options: EmulatorOptions = {}): {
  readonly ways: readonly Way[]
  readonly emulator: () => Emulator
} {
  let running: Emulator | undefined
  const emulator = (): Emulator => {
    if (running === undefined) throw new Error('the emulator runs within tests only')
    return running
  }
  beforeAll(async () => {
    running = await startEmulator({ port: 0, ephemeral: true, rate: 0, ...options })
  })
  afterAll(() => running?.close())
  const { controlToken } = options
  return {
    emulator,
    ways: [
      ['in process', emulator],
      ['over HTTP', () => connect(emulator().url, { controlToken })],
    ],
  }
}

export async function createBatch(sandbox: SandboxClient, items = 3, changes: object = {}): Promise<string> {
  const response = await sandbox.fetch('/batch-predictions', { json: aBatch({ items, ...changes }) })
  return ((await response.json()) as { readonly id: string }).id
}

/** The error that a call rejects with; fails if the call succeeds. */
export async function refusalOf(call: Promise<unknown>): Promise<Error> {
  try {
    await call
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was refused')
}
