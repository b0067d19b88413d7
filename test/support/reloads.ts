import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ScenarioLibrary } from '../../src/adapters/scenarios/library.ts'
import { script, writeFiles } from './scenario-folder.ts'

/** What a process has in use, in megabytes, after garbage has been collected. */
export interface Footprint {
  readonly heap: number
  readonly rss: number
}

/** Writes a scenario that imports a module of a hundred thousand objects; `version` makes both new. */
export function writeLargeScript(folder: string, version: number): void {
  writeFiles(folder, {
    'large.ts': script(
      `{ description: '${version} ' + rows.length, timeline: [{ at: '1m', do: ({ sandbox }) => sandbox.log(rows[7].name) }] }`,
      "import { rows } from './lib/rows.ts'\n",
    ),
    'lib/rows.ts': `export const rows = Array.from({ length: 100_000 }, (_, n) => ({ n, name: 'row ' + n + ' of ${version}' }))\n`,
  })
}

/** Saves the large script so many times and has it loaded each time. @returns the footprint after each */
export async function reload(library: ScenarioLibrary, folder: string, times: number): Promise<Footprint[]> {
  const footprints: Footprint[] = []
  for (let version = 1; version <= times; version++) {
    writeLargeScript(folder, version)
    await library.refresh()
    if (library.get('large')?.description !== `${version} 100000`)
      throw new Error(`${version} is not in force`)
    footprints.push(footprint())
  }
  return footprints
}

/** What this process has in use now. */
export function footprint(): Footprint {
  collectGarbage()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed / 1_048_576, rss: rss / 1_048_576 }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
