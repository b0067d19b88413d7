import { readFileSync, writeFileSync } from 'node:fs'
import { decode, encode } from '@jridgewell/sourcemap-codec'

/** Leaves in a source map what is ours: half of it is about packages, whose code the bundle shows as it is anyway. */
export function keepOurs(file) {
  const { sources, sourcesContent, mappings } = JSON.parse(readFileSync(file, 'utf8'))
  const ours = sources.flatMap((source, index) => (source.includes('node_modules/') ? [] : [index]))
  const places = new Map(ours.map((index, place) => [index, place]))
  const lines = decode(mappings).map((line) =>
    line.map(([column, source, ...at]) =>
      // Ends what is ours: without it, the packages that follow would count as ours.
      places.has(source) ? [column, places.get(source), at[0], at[1]] : [column],
    ),
  )
  const map = {
    version: 3,
    sources: ours.map((index) => sources[index]),
    sourcesContent: ours.map((index) => sourcesContent[index]),
    names: [],
    mappings: encode(lines.map(withoutRepeats)),
  }
  writeFileSync(file, `${JSON.stringify(map)}\n`)
}

function withoutRepeats(line) {
  return line.filter((segment, index) => segment.length > 1 || (index > 0 && line[index - 1].length > 1))
}
