import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/core/json.ts'
import { type InternalOptions, openEmulator, type RunningEmulator } from '../../../src/emulator/emulator.ts'
import { baseCollections, START } from '../../support/base-state.ts'

export interface Proving {
  readonly emulator: RunningEmulator
  readonly defects: unknown[]
}

/**
 * Runs a part of a proof against an emulator that is closed afterwards. Default: in memory, the base sandbox, a frozen
 * clock.
 */
export async function against<T>(
  options: InternalOptions,
  part: (proving: Proving) => Promise<T>,
): Promise<T> {
  const defects: unknown[] = []
  const emulator = await openEmulator({
    port: 0,
    clock: START,
    rate: 0,
    fixtures: { collections: baseCollections } as unknown as JsonObject,
    ...(options.data === undefined ? { ephemeral: true } : {}),
    logger: { info: () => {}, warn: () => {}, error: (_text, fields) => defects.push(fields?.error) },
    ...options,
  })
  try {
    return await part({ emulator, defects })
  } finally {
    await emulator.close()
  }
}

export async function withFolder<T>(part: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-proof-'))
  try {
    return await part(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
