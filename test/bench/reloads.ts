import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Footprint, reload, writeLargeScript } from '../support/reloads.ts'
import { openLibrary } from '../support/scenario-folder.ts'

// Measures the memory that reloads of a large script retain: node --import tsx test/bench/reloads.ts [times] [--json]

const times = Number(process.argv[2] ?? 500)
const folder = mkdtempSync(join(tmpdir(), 'scenario-reloads-'))
try {
  const begun = performance.now()
  const footprints = await loadAgain()
  const each = (performance.now() - begun) / times
  if (process.argv.includes('--json')) console.log(JSON.stringify(footprints))
  else {
    for (const at of [1, 10, times >> 2, times >> 1, times]) print(at, footprints[at - 1])
    console.log(`${each.toFixed(0)} ms for each`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function loadAgain(): Promise<Footprint[]> {
  writeLargeScript(folder, 0)
  const { library } = await openLibrary(folder)
  const footprints = await reload(library, folder, times)
  library.close()
  return footprints
}

function print(at: number, { heap, rss }: Footprint = { heap: Number.NaN, rss: Number.NaN }): void {
  console.log(`after ${at} reloads: heap ${heap.toFixed(0)} MB, resident ${rss.toFixed(0)} MB`)
}
