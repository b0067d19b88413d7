import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { FOLDERS, folderImports } from './folders.ts'
import { requestPassages } from './requests.ts'
import { commentShare, declaredTwice, knowFaults, linesOf, sourceFiles } from './source.ts'

// Prints size and structure of the source: `npm run shape`. `--tree <folder>` measures another checkout with the same counting
// (its packages are installed, and it has been built); `--files` lists the files that each request runs through.
const { values: options } = parseArgs({
  options: { tree: { type: 'string', default: '.' }, files: { type: 'boolean', default: false } },
})
const project = resolve(options.tree)
const files = sourceFiles(project)
const small = files.filter(({ path, text }) => linesOf(text) < 25 && !path.endsWith('index.ts'))
const twice = declaredTwice(files)
const faults = knowFaults(files)
const { counts, upward } = folderImports(files)
const imports = FOLDERS.map(({ name }, from) => {
  const targets = FOLDERS.flatMap((to, n) => (counts[from]?.[n] ? [`${to.name} ${counts[from][n]}`] : []))
  return `${name}: ${targets.join(', ') || 'none'}`
})

const rows: readonly (readonly [what: string, value: number | string, details?: readonly string[]])[] = [
  ['source lines', files.reduce((sum, { text }) => sum + linesOf(text), 0)],
  ['source files', files.length],
  ['files under 25 lines', small.length, small.map(({ path }) => path)],
  ['comments', `${commentShare(files)} %`],
  [
    'exported names declared twice',
    twice.size,
    [...twice].map(([name, paths]) => `${name}: ${paths.join()}`),
  ],
  ['files of core that import faults', faults.length, faults],
  ['imports from folder to folder', `${upward.length} upward`, [...imports, ...upward]],
  ['README lines', linesOf(readFileSync(join(project, 'README.md'), 'utf8'))],
  ...Object.entries(await requestPassages(project)).map(
    ([request, { files, switches }]) =>
      [request, `${files.length} files, ${switches} switches`, options.files ? files : []] as const,
  ),
]
for (const [what, value, details = []] of rows) {
  console.log(`${what.padEnd(34)} ${value}`)
  for (const detail of details) console.log(`  ${detail}`)
}
