import type { ScenarioLibrary } from '../../src/adapters/scenarios/library.ts'
import { collectGarbage } from './collect-garbage.ts'
import { script, writeFiles } from './scenario-folder.ts'

/** The memory of this process in megabytes, after garbage collection. */
export interface Footprint {
  readonly heap: number
  readonly rss: number
}

/** Writes a scenario that imports a module with a hundred thousand objects; `version` changes both files. */
export function writeLargeScript(folder: string, version: number): void {
  writeFiles(folder, {
    'large.ts': script(
      `{ description: '${version} ' + rows.length, timeline: [{ at: '1m', do: ({ sandbox }) => sandbox.log(rows[7].name) }] }`,
      "import { rows } from './lib/rows.ts'\n",
    ),
    'lib/rows.ts': `export const rows = Array.from({ length: 100_000 }, (_, n) => ({ n, name: 'row ' + n + ' of ${version}' }))\n`,
  })
}

/** Saves and loads the large script this many times. @returns the footprint after each time */
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

/** The current memory of this process. */
export function footprint(): Footprint {
  collectGarbage()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed / 1_048_576, rss: rss / 1_048_576 }
}
