import { cpSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { JsonObject } from '../../../src/core/json.ts'
import type { InternalOptions, RunningEmulator } from '../../../src/emulator/emulator.ts'
import { baseCollections } from '../../support/base-state.ts'
import { atLeast, type Figure, none, type Proof, tried } from '../proof.ts'
import { against, withFolder } from './emulator.ts'
import { asIds, asMembers, asSandboxes, inPaths } from './places.ts'
import { NAMES, trialOn } from './trial.ts'
import { asIdempotencyKeys, asValues } from './values.ts'

const COLLECTIONS = {
  ...baseCollections,
  agents: [{ id: 'agent-1', _emulator: { teamspace_id: 'ts-a' } }],
}
const OPTIONS: InternalOptions = {
  settings: { 'batch.unknown_files': 'accept' },
  fixtures: { collections: COLLECTIONS } as unknown as JsonObject,
}

/** The names that every object and every list inherits, as text. */
function inherited(): string {
  const names = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype]
  return JSON.stringify(names.map((each) => Reflect.ownKeys(each).map(String)))
}

async function emulatorsOf({ sandboxes }: RunningEmulator): Promise<string> {
  for (const { name } of sandboxes.saved()) await sandboxes.openSaved(name)
  const all = sandboxes.list().map(({ sandbox }) => {
    // Rate windows and the count of requests may change.
    const { revision: _, limits: __, counters, ...rest } = sandbox.document()
    return [sandbox.name, { ...rest, counters: { ...counters, requests: 0 } }] as const
  })
  return JSON.stringify(all.sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function run(): Promise<readonly Figure[]> {
  const found: string[] = []
  const before = inherited()
  let [kept, refused] = [0, 0]
  await withFolder(async (folder) => {
    const data = join(folder, 'data')
    const killed = join(folder, 'killed')
    const sandboxes = await against({ ...OPTIONS, limits: false, data }, async ({ emulator, defects }) => {
      const trial = trialOn(emulator, found)
      for (const part of [asValues, asIds, asIdempotencyKeys, asMembers, inPaths, asSandboxes])
        await part(trial)
      kept = trial.kept
      refused = trial.refused
      found.push(...defects.map((defect) => `defect: ${defect}`))
      cpSync(data, killed, { recursive: true, filter: (path) => basename(path) !== 'lock' })
      return emulatorsOf(emulator)
    })
    for (const each of [data, killed]) {
      await against({ ...OPTIONS, limits: false, data: each }, async ({ emulator }) => {
        if ((await emulatorsOf(emulator)) !== sandboxes)
          found.push(`the sandboxes differ after a restart from ${each}`)
      })
    }
  })
  if (inherited() !== before || 'polluted' in {} || 'x4' in {}) found.push('a prototype has changed')
  return [
    tried('names', NAMES.length),
    atLeast('kept unchanged', kept, 300),
    atLeast('refused without an effect', refused, 800),
    none(`lost, confused, or failed${found.length === 0 ? '' : `: ${found[0]}`}`, found.length),
  ]
}

export const x4: Proof = {
  id: 'X4',
  promise:
    'Every name is treated as a plain name: it is returned unchanged, also after a restart, or is refused.',
  run,
}
