import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Footprint, footprint, reload, writeLargeScript } from '../support/reloads.ts'
import { openLibrary } from '../support/scenario-folder.ts'

// Measures the memory that reloads of a large script retain: tsx test/bench/reloads.ts [times] [--import] [--json]
// With --import the script is imported with a new query each time; a separate process per reload avoids that leak.

const times = Number(process.argv[2] ?? 500)
const folder = mkdtempSync(join(tmpdir(), 'scenario-reloads-'))
try {
  const begun = performance.now()
  const footprints = process.argv.includes('--import') ? await importAgain() : await loadAgain()
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
  await library.close()
  return footprints
}

async function importAgain(): Promise<Footprint[]> {
  const footprints: Footprint[] = []
  for (let version = 1; version <= times; version++) {
    writeLargeScript(folder, version)
    // A plain module of Node, because the loader of this script would keep the module only once.
    const module = join(folder, 'rows.mjs')
    copyFileSync(join(folder, 'lib', 'rows.ts'), module)
    await import(`${pathToFileURL(module).href}?v=${version}`)
    footprints.push(footprint())
  }
  return footprints
}

function print(at: number, { heap, rss }: Footprint = { heap: Number.NaN, rss: Number.NaN }): void {
  console.log(`after ${at} reloads: heap ${heap.toFixed(0)} MB, resident ${rss.toFixed(0)} MB`)
}
