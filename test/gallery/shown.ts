import type { Finding, RequestEntry, SandboxClient } from 'agent-workspace-emulator'
import type { GalleryCase } from './cases.ts'
import type { Run } from './client.ts'
import { type Result, runCase } from './situation.ts'

export interface Shown {
  readonly results: readonly Result[]
  /** With their bodies, in order of arrival. */
  readonly requests: readonly RequestEntry[]
  /** The results of the latest batch, as the service has them. */
  readonly planned: readonly { readonly custom_id: string; readonly output: unknown }[]
  readonly findings: readonly Finding[]
}

export async function show(
  sandbox: SandboxClient,
  each: GalleryCase,
  run: Run,
  mayHang?: boolean,
): Promise<Shown> {
  const results = await runCase(sandbox, each, run, mayHang)
  if (results.includes('pending')) await sandbox.clock.advance('10m')
  const latest = (await sandbox.state.list('batch_predictions')).at(-1)?.id
  return {
    results,
    requests: await sandbox.requests.list({ full: true }),
    planned: latest === undefined ? [] : await sandbox.batches.results(String(latest)),
    findings: (await sandbox.conduct({ retries: each.retries })).findings,
  }
}
