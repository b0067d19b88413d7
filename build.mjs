import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

// Builds dist/. `node build.mjs` builds the scripts, `node build.mjs --types` adds the types, which only publishing needs.
// `node build.mjs --if-changed` builds the scripts only if a source is newer than they are; `npm start` runs it each time.
// The scripts contain our own code, and the dashboard also the packages that it uses. All other packages are dependencies.
// They are CommonJS: Node starts those sooner than modules, and Jest loads nothing else without a flag.

const require = createRequire(import.meta.url)
const DASHBOARD = 'src/dashboard'
/** zod loads its messages in fifty languages at once, which takes five percent of a start: here they wait until one is read. */
const COMMAND = `#!/usr/bin/env node
require('node:module').enableCompileCache?.()
const file = require.resolve('zod/v4/locales')
const load = () => delete require.cache[file] && require(file)
const messages = new Proxy({ __esModule: true }, { get: (own, name) => own[name] ?? load()[name] })
require.cache[file] = { id: file, filename: file, loaded: true, exports: messages }
require('./main.js').main()
`
/** Written last, so that a build that has failed counts as out of date. */
const LAST = 'dist/openapi.json'

if (process.argv.includes('--types')) await buildTypes()
else if (!process.argv.includes('--if-changed')) await buildScripts()
else if (isOutOfDate()) {
  const began = process.hrtime.bigint()
  // Not on stdout, where `npm start -- --json` prints one line.
  console.error(
    'Building the emulator from src/. This takes a few seconds, at the first start and after a change.',
  )
  await buildScripts()
  console.error(`Built in ${Number((process.hrtime.bigint() - began) / 1_000_000_000n)} s.`)
}

/** Whether a source, or a folder that a source was removed from, is newer than the last build. */
function isOutOfDate() {
  if (!fs.existsSync(LAST)) return true
  const built = fs.statSync(LAST).mtimeMs
  const sources = fs.readdirSync('src', { recursive: true }).map((path) => join('src', path))
  return ['src', 'build.mjs', 'package.json', 'package-lock.json', 'tsconfig.json', ...sources].some(
    (file) => fs.statSync(file).mtimeMs > built,
  )
}

async function buildScripts() {
  const { build } = await import('rolldown')
  const shared = {
    platform: 'node',
    // Packages, and modules of Node.
    external: /^(?:node:|@?[a-z])/,
    transform: { target: 'node20.19' },
    checks: { pluginTimings: false, ineffectiveDynamicImport: false },
  }
  const output = { dir: 'dist', format: 'cjs', sourcemap: true, comments: false, chunkFileNames: '[name].js' }
  fs.rmSync('dist', { recursive: true, force: true })
  const [{ output: built }] = await Promise.all([
    build({
      ...shared,
      input: {
        library: 'src/index.ts',
        main: 'src/cli/main.ts',
        documents: 'src/emulator/documents.ts',
      },
      plugins: [beside('src/tools/mcp/sdk.ts', './mcp-sdk.js')],
      // `import()` becomes `require()`, which loads ES modules, too, and is faster.
      output: { ...output, dynamicImportInCjs: false, codeSplitting: { groups: [{ name: startFile }] } },
    }),
    // Vitest and Vite have only modules; Playwright's loader works better with scripts.
    ...['vitest', 'vite'].map((entry) =>
      build({
        ...shared,
        ...entryBeside(entry),
        output: { ...output, format: 'es', entryFileNames: '[name].mjs' },
      }),
    ),
    build({ ...shared, ...entryBeside('playwright'), output }),
    buildDashboard(),
    buildMcpSdk(),
  ])
  const { exports } = built.find(({ name, isEntry }) => isEntry && name === 'library')
  fs.writeFileSync('dist/index.js', libraryEntry(exports))
  fs.writeFileSync('dist/cli.js', COMMAND, { mode: 0o755 })
  fs.writeFileSync('dist/package.json', `${JSON.stringify({ type: 'commonjs' })}\n`)
  if (fs.existsSync('docs')) (await import('./docs/llms.mjs')).writeLlms('dist')
  for (const [file, make] of Object.entries(require('./dist/documents.js').documentFiles))
    fs.writeFileSync(join('dist', file), `${JSON.stringify(make())}\n`)
}

/** Each file costs time at a start: what the library imports is one file, what a start imports besides is another one. */
function startFile(id, modules) {
  const within = (entries, seen = new Set()) => {
    for (const each of entries) {
      if (seen.has(each)) continue
      seen.add(each)
      within(modules.getModuleInfo(each)?.importedIds ?? [], seen)
    }
    return seen.has(id)
  }
  if (within([resolve('src/index.ts')])) return 'library'
  const start = ['emulator/emulator.ts', 'cli/main.ts', 'cli/start.ts', 'adapters/scenarios/library.ts']
  return within(start.map((file) => resolve('src', file))) ? 'start' : null
}

/** The entry point for a test runner or Vite. It imports the library as its user does, so that there is only one copy of it. */
function entryBeside(runner) {
  return { input: `src/${runner}.ts`, plugins: [beside('src/index.ts', './index.js')] }
}

/** Leaves a source out of a bundle, which then imports a file beside itself. */
function beside(source, id) {
  const isSource = (each, importer) =>
    importer !== undefined && resolve(importer, '..', each) === resolve(source)
  const resolveId = (each, importer) => (isSource(each, importer) ? { id, external: true } : null)
  return { name: 'beside', resolveId }
}

/** The SDK of the command `mcp`, which no other file loads. */
async function buildMcpSdk() {
  const { build } = await import('esbuild')
  const { metafile } = await build({
    entryPoints: { 'mcp-sdk': 'src/tools/mcp/sdk.ts' },
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    minify: true,
    metafile: true,
    external: ['zod'],
    // It checks only answers of users, which no tool asks for: without it, ajv would be in the package a second time.
    alias: {
      '@modelcontextprotocol/server/_shims':
        'data:text/javascript,export class DefaultJsonSchemaValidator{};export{default as process}from"node:process"',
    },
  })
  fs.writeFileSync('dist/mcp-sdk-LICENSES.txt', licences(metafile))
}

/**
 * Jest and the vm pools of Vitest have realms of their own, which load no ES modules: there the library is loaded outside. In a
 * bundle of its user the library lacks files, or cannot be loaded: the first call says so.
 */
function libraryEntry(names) {
  return `const vm = process.getBuiltinModule('node:vm')
const isOutside = vm.runInThisContext('Array') === Array
const load = () =>
  isOutside
    ? require('./library.js')
    : vm.runInThisContext("process.getBuiltinModule('node:module')").createRequire(__filename)('./library.js')

let library = {}
let refuse
try {
  library = load()
} catch (cause) {
  const message = 'agent-workspace-emulator cannot be loaded. In a bundle, mark agent-workspace-emulator as external.'
  refuse = function () {
    throw new Error(message, { cause })
  }
}

${names.map((name) => `exports.${name} = library.${name} ?? refuse\n`).join('')}`
}

/** The dashboard, for browsers: one page, its first load, and a file for each view that is opened later. */
async function buildDashboard() {
  const { build } = await import('esbuild')
  const { metafile } = await build({
    entryPoints: [`${DASHBOARD}/main.ts`, `${DASHBOARD}/style.css`],
    outdir: 'dist/dashboard',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    metafile: true,
    legalComments: 'none',
    logLevel: 'warning',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    // The other form of jsonc-parser calls require by another name, which bundlers do not follow.
    alias: { 'jsonc-parser': './node_modules/jsonc-parser/lib/esm/main.js' },
    // Only a function of core that browsers never call imports it.
    external: ['@faker-js/faker/*'],
    plugins: [{ name: 'without-side-effects', setup: withoutSideEffects }],
  })
  fs.copyFileSync(`${DASHBOARD}/icon.svg`, 'dist/dashboard/icon.svg')
  fs.copyFileSync(`${DASHBOARD}/index.html`, 'dist/dashboard/index.html')
  fs.writeFileSync('dist/dashboard/LICENSES.txt', licences(metafile))
}

/** Marks our modules outside the dashboard as free of side effects: those without a used export stay out of its bundle. */
function withoutSideEffects({ onResolve }) {
  const src = resolve('src')
  onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
    const file = resolve(resolveDir, path)
    return file.startsWith(src) && !file.includes('/dashboard/')
      ? { path: file, sideEffects: false }
      : undefined
  })
}

/** The licences of the packages in the bundle of the dashboard. A package without one must not get into it unnoticed. */
function licences({ outputs }) {
  const files = Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0),
  )
  const folders = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []))
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(fs.readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = fs.readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
    if (license === undefined || file === undefined) throw new Error(`${folder} states no licence.`)
    return `${name} ${version} (${license})\n\n${fs.readFileSync(join(folder, file), 'utf8').trim()}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

/** Writes the declarations of the entry points and of all that they import. */
async function buildTypes() {
  const compiler = join(require.resolve('typescript/package.json'), '../bin/tsc')
  fs.rmSync('dist/types', { recursive: true, force: true })
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.types.json'], { stdio: 'inherit' })
  for (const entry of ['vitest', 'vite'])
    fs.renameSync(`dist/types/${entry}.d.ts`, `dist/types/${entry}.d.mts`)
  // Fault primitives add to a type of another file, and nothing that is declared imports them.
  const merging = fs
    .readdirSync('dist/types', { recursive: true })
    .filter(
      (path) =>
        path.endsWith('.d.ts') &&
        /^declare module '\./m.test(fs.readFileSync(join('dist/types', path), 'utf8')),
    )
  const imports = merging.map((path) => `import './${path.replaceAll('\\', '/').replace('.d.ts', '.ts')}';\n`)
  fs.appendFileSync('dist/types/index.d.ts', imports.join(''))
  // Editors show the descriptions of the start options.
  const { createJiti } = await import('jiti')
  const { startOptions } = await createJiti(import.meta.url).import('./src/emulator/options.ts')
  const file = 'dist/types/emulator/options.d.ts'
  const described = fs.readFileSync(file, 'utf8').replaceAll(/^ +(\w+): Option</gm, (line, name) => {
    const { description, shown, default: value } = startOptions[name]
    return `    /** ${description}. Default: ${shown ?? value}. */\n${line}`
  })
  fs.writeFileSync(file, described)
}
