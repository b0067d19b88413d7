import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/core/json.ts'
import type { InternalOptions } from '../../../src/emulator/emulator.ts'
import { baseCollections } from '../../support/base-state.ts'
import { type ProofEmulator, proofEmulator } from '../api/sandbox.ts'

/**
 * Runs a part of a proof against an emulator that is closed afterwards. Default: in memory, the base sandbox, a frozen
 * clock.
 */
export async function against<T>(
  options: InternalOptions,
  part: (proving: ProofEmulator) => Promise<T>,
): Promise<T> {
  const proving = await proofEmulator({
    fixtures: { collections: baseCollections } as unknown as JsonObject,
    ephemeral: options.data === undefined,
    ...options,
  })
  try {
    return await part(proving)
  } finally {
    await proving.emulator.close()
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
