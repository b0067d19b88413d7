import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'

// Builds dist/. `node build.mjs` builds the scripts: one file with the command, the library and their dependencies; separate
// files for large packages that not every run needs; and the compiled code that V8 caches. All of it is CommonJS: Node starts
// scripts 7 ms sooner than modules, and can cache compiled code only of scripts.
// `node build.mjs --types` adds the types, which only publishing needs. `node build.mjs --if-changed` builds the scripts only
// if their inputs or outputs have changed since the last build; `npm start` runs it each time. With --dry-run it only reports
// whether it would build.

const require = createRequire(import.meta.url)
const { name: packageName, version } = require('./package.json')
const readJson = (...path) => JSON.parse(fs.readFileSync(join(...path), 'utf8'))

/** Packages under the MIT licence that are built into a file of jiti and not installed here, with their copyright. */
const INSIDE_JITI = {
  'babel-plugin-parameter-decorator': 'Copyright (c) Warner',
  'get-tsconfig': 'Copyright (c) Hiroki Osame <hiroki.osame@gmail.com>',
  mlly: 'Copyright (c) Pooya Parsa <pooya@pi0.io>',
  'resolve-pkg-maps': 'Copyright (c) Hiroki Osame <hiroki.osame@gmail.com>',
}

/** Packages to load late although import() is not used: late modules import them, or the code cannot wait for import(). */
const LATE = ['@faker-js/faker/locale/en', '@eslint-community/regexpp', 're2js', 'croner', 'express']

// TypeScript 7 no longer has the compiler API; api-extractor brings an older TypeScript that has it.
const loadCompiler = () => createRequire(require.resolve('@microsoft/api-extractor'))('typescript')
let ts
const SRC = `${resolve('src')}/`
const INFERRED = /\bz\.(output|input|infer)<|\btypeof\b|\bPrimitives\b/
/** Tables of routes: no published declaration uses them. */
const TABLES = /\b(CallsOf|Ask)<|ReturnType<typeof ownRoutes>/
/** Deeper types are circular; no published declaration uses one. */
const MAX_INDENT = 60

/** The version of Node and the files that the last build read and wrote, for --if-changed. */
const RECORD = 'dist/build.json'
const DASHBOARD = 'src/adapters/dashboard/app'
/** Files that a build depends on although they are not in its scripts. */
const BESIDES = [
  'build.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  `${DASHBOARD}/index.html`,
  `${DASHBOARD}/icon.svg`,
]

if (process.argv.includes('--types')) await buildTypes()
else if (!process.argv.includes('--if-changed') || hasChanged()) {
  if (process.argv.includes('--dry-run')) process.stdout.write('dist/ is not what a build would make.\n')
  else await buildScripts()
}

/** Whether a build would change dist/. A missing or unreadable record counts as a change. */
function hasChanged() {
  try {
    const { node, inputs, outputs } = readJson(RECORD)
    const isAsItWas = ([file, stamp]) => stampOf(file) === stamp
    return (
      node !== process.version || ![...Object.entries(inputs), ...Object.entries(outputs)].every(isAsItWas)
    )
  } catch {
    return true
  }
}

/** Size and time of a file: they change when it is written, and are faster to compare than contents. Throws if it is missing. */
function stampOf(file) {
  const { size, mtimeMs } = fs.statSync(file)
  // Times can be set to milliseconds at most, so that a restored file would differ in a smaller unit.
  return `${size} ${Math.round(mtimeMs)}`
}

function recordBuild(built) {
  const stamps = (files) => Object.fromEntries(files.map((file) => [file, stampOf(file)]))
  const sources = built
    .flatMap(({ metafile }) => Object.keys(metafile.inputs))
    .filter((file) => fs.existsSync(file))
  const outputs = fs.readdirSync('dist', { recursive: true, withFileTypes: true })
  const written = outputs
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath ?? each.path, each.name))
  // Caches are left out: runs write them, too, one for each version of Node.
  const kept = written.filter((file) => !file.endsWith('.cache'))
  const record = {
    node: process.version,
    inputs: stamps([...new Set([...sources, ...BESIDES.filter((file) => fs.existsSync(file))])]),
    outputs: stamps(kept),
  }
  fs.writeFileSync(RECORD, JSON.stringify(record))
}

async function buildScripts() {
  const { build } = await import('esbuild')
  const shared = {
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    // The licences of packages are in dist/THIRD-PARTY-LICENSES.txt.
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    // The CommonJS form of jsonc-parser calls require by another name, which bundlers do not follow.
    alias: { 'jsonc-parser': './node_modules/jsonc-parser/lib/esm/main.js' },
  }
  // src/adapters/load.ts calls this function as Node calls a CommonJS module.
  const asFunction = {
    banner: { js: '(function (exports, require, module, scriptUrl, importModule) {' },
    footer: { js: '})' },
  }
  const own = { ...shared, sourcemap: true, define: { 'import.meta.dirname': '__dirname' } }
  const lazy = {}
  fs.rmSync('dist', { recursive: true, force: true })
  const built = await Promise.all([
    build({
      ...own,
      stdin: {
        contents: `export { main } from './src/adapters/cli/main.ts'
                   export { run } from './src/adapters/cli/command-line.ts'
                   export { startOptions } from './src/options.ts'
                   export { SCRIPT_LIMITS } from './src/adapters/scenarios/generation.ts'
                   export const library = () => require('./src/index.ts')`,
        resolveDir: '.',
      },
      outfile: 'dist/emulator.cjs',
      define: { 'import.meta.url': 'scriptUrl' },
      // Scripts that run from a cache cannot use import(), so lazy packages are loaded by require().
      supported: { 'dynamic-import': false },
      ...asFunction,
      plugins: [lazyPackages(lazy)],
    }),
    build({
      ...shared,
      stdin: {
        contents: `export { performTasks } from './src/adapters/scenarios/process-main.ts'
                   export { Scripts } from './src/adapters/scenarios/run-script.ts'`,
        resolveDir: '.',
      },
      outfile: 'dist/scenario-process.cjs',
      ...asFunction,
      // The module form of jiti finds its compiler by createRequire, which bundlers do not follow.
      alias: { ...shared.alias, jiti: './node_modules/jiti/lib/jiti.cjs' },
      plugins: [importsFromOutside()],
      // The compiler is one line; formatted, it would be a million lines.
      minifyWhitespace: true,
    }),
    // Vitest has only modules; Playwright's loader works better with scripts.
    build({ ...own, ...testRunnerEntry('vitest'), format: 'esm', outExtension: { '.js': '.mjs' } }),
    build({ ...own, ...testRunnerEntry('playwright') }),
    buildDashboard(build, shared),
  ])
  const outExtension = { '.js': '.cjs' }
  built.push(await build({ ...shared, ...asFunction, entryPoints: lazy, outdir: 'dist/lazy', outExtension }))
  const scripts = [
    'emulator',
    'scenario-process',
    ...Object.keys(lazy)
      .sort()
      .map((name) => `lazy/${name}`),
  ]
  const digest = createHash('sha256')
  for (const name of scripts) digest.update(fs.readFileSync(`dist/${name}.cjs`))
  built.push(
    await build({
      ...own,
      entryPoints: ['src/adapters/load.ts'],
      outdir: 'dist',
      // Separates the caches of different builds: V8 itself compares only the length of the script.
      define: { ...own.define, BUILD_ID: JSON.stringify(digest.digest('hex').slice(0, 16)) },
    }),
  )
  fs.writeFileSync('dist/package.json', `${JSON.stringify({ type: 'commonjs', version })}\n`)
  const bundled = ({ inputs }) => Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0)
  const files = built.flatMap(({ metafile }) => Object.values(metafile.outputs).flatMap(bundled))
  fs.writeFileSync('dist/THIRD-PARTY-LICENSES.txt', licences(files))
  await keepOwnSources('dist/emulator.cjs.map')
  await writeEntryPoints()
  recordBuild(built)
}

/** The dashboard, for browsers: one page, its first load, and a file for each view that is opened later. */
async function buildDashboard(build, { legalComments, logLevel, alias }) {
  const built = await build({
    legalComments,
    logLevel,
    alias,
    entryPoints: [`${DASHBOARD}/main.tsx`, `${DASHBOARD}/style.css`],
    outdir: 'dist/dashboard',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    metafile: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    // Only a function of core that browsers never call imports it.
    external: ['@faker-js/faker/*'],
    plugins: [withoutSideEffects()],
  })
  fs.copyFileSync(`${DASHBOARD}/icon.svg`, 'dist/dashboard/icon.svg')
  // Without preloads a browser would find the parts of the script only after it has read the script.
  const preloads = built.metafile.outputs['dist/dashboard/main.js'].imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => `<link rel="modulepreload" href="${relative('dist/dashboard', path)}" />`)
  const html = fs.readFileSync(`${DASHBOARD}/index.html`, 'utf8')
  fs.writeFileSync('dist/dashboard/index.html', html.replace('</head>', `${preloads.join('')}</head>`))
  return built
}

/** Marks our modules outside the dashboard as free of side effects: those without a used export stay out of its bundle. */
function withoutSideEffects() {
  return {
    name: 'without-side-effects',
    setup({ onResolve }) {
      onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
        const file = resolve(resolveDir, path)
        return file.startsWith(SRC) && !file.includes('/dashboard/')
          ? { path: file, sideEffects: false }
          : undefined
      })
    },
  }
}

/** A script of a scenario may import a module. jiti then imports it with the function that src/adapters/load.ts passes in. */
function importsFromOutside() {
  const name = 'imports-from-outside'
  const setup = ({ onLoad }) =>
    onLoad({ filter: /jiti[\\/]lib[\\/]jiti\.cjs$/ }, ({ path }) => {
      const parts = fs.readFileSync(path, 'utf8').split('=> import(id)')
      const errors =
        parts.length === 2
          ? []
          : [
              {
                text: 'jiti imports modules in another way now: change importsFromOutside in build.mjs to match',
              },
            ]
      return { contents: parts.join('=> importModule(id)'), errors }
    })
  return { name, setup }
}

/** Builds packages that are loaded by import(), or are listed in LATE, as separate files, which are read only when needed. */
function lazyPackages(found) {
  return {
    name: 'lazy-packages',
    setup({ onResolve }) {
      onResolve({ filter: /^[@a-z]/ }, ({ kind, path }) => {
        if ((kind !== 'dynamic-import' && !LATE.includes(path)) || path.startsWith('node:')) return undefined
        const name = path.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-/, '')
        found[name] = path
        return { path: `./lazy/${name}.cjs`, external: true }
      })
    },
  }
}

/** The entry point for a test runner. It imports the library from ./index.js, and the test runner that its user has installed. */
function testRunnerEntry(runner) {
  const library = resolve('src/index.ts')
  return {
    entryPoints: [`src/${runner}.ts`],
    outdir: 'dist',
    external: ['vitest', '@playwright/test'],
    plugins: [
      {
        name: 'library-beside',
        setup({ onResolve, onEnd }) {
          onResolve({ filter: /\/index\.ts$/ }, ({ path, resolveDir }) =>
            resolve(resolveDir, path) === library ? { path: './index.js', external: true } : undefined,
          )
          onEnd(({ metafile }) => {
            const inputs = Object.keys(metafile?.inputs ?? {})
            const own = /^src\/(?:adapters\/testing\/.*|vitest\.ts|playwright\.ts)$/
            const copies = inputs.filter((file) => !own.test(file))
            const text = `src/${runner}.ts bundles a second copy of ${copies.join(', ')}; import it from src/index.ts`
            return copies.length === 0 ? undefined : { errors: [{ text }] }
          })
        },
      },
    ],
  }
}

/** Removes packages from a source map. They are half of it, and their code is readable in the bundle. */
async function keepOwnSources(file) {
  const { decode, encode } = await import('@jridgewell/sourcemap-codec')
  const { sources, sourcesContent, mappings } = readJson(file)
  const ours = sources.flatMap((source, index) => (source.includes('node_modules/') ? [] : [index]))
  const lines = decode(mappings).map((line) =>
    line
      .map(([column, source, ...place]) =>
        // A segment without a source ends one of ours: otherwise the package code after it would count as ours.
        ours.includes(source) ? [column, ours.indexOf(source), place[0], place[1]] : [column],
      )
      .filter((segment, index, all) => segment.length > 1 || (index > 0 && all[index - 1].length > 1)),
  )
  const pick = (list) => ours.map((index) => list[index])
  const map = { version: 3, sources: pick(sources), sourcesContent: pick(sourcesContent), names: [] }
  fs.writeFileSync(file, `${JSON.stringify({ ...map, mappings: encode(lines) })}\n`)
}

/** Writes dist/index.js, dist/cli.js and dist/scenario-process.js, and the cache of compiled code. A bundle that cannot start fails the build. */
async function writeEntryPoints() {
  // The cache holds the names of scripts, and must not contain paths of this machine.
  const vm = require('node:vm')
  vm.Script = class extends vm.Script {
    constructor(code, options) {
      // The buffer copies the name: V8 keeps a substring together with its whole string, here the path.
      super(code, { ...options, filename: Buffer.from(basename(options.filename)).toString() })
    }
  }
  const { evaluate, keepCompiled } = require('./dist/load.js')
  const bundle = evaluate('emulator.cjs')
  // Node and bundlers find exported names without running the file only if each is a separate assignment.
  const names = Object.keys(bundle.library()).map((name) => `exports.${name} = library.${name}\n`)
  fs.writeFileSync(
    'dist/index.js',
    `const library = require('./load.js').evaluate('emulator.cjs').library()\n\n${names.join('')}`,
  )
  const cli = "#!/usr/bin/env node\nrequire('./load.js').evaluate('emulator.cjs').main()\n"
  fs.writeFileSync('dist/cli.js', cli, { mode: 0o755 })
  fs.writeFileSync(
    'dist/scenario-process.js',
    "const { evaluate, keepIfPossible } = require('./load.js')\nevaluate('scenario-process.cjs').performTasks(keepIfPossible)\n",
  )

  // V8 caches only functions that have run, so one start, one request, one command and one log line run first.
  const data = fs.mkdtempSync(join(tmpdir(), 'workspace-emulator-build-'))
  const errors = []
  let out
  const ready = new Promise((resolve) => {
    out = resolve
  })
  const terminal = { out, err: (text) => errors.push(text), colours: false }
  const stopped = bundle.run(['start', '--json', '--port', '0', '--data', data], {}, terminal)
  const line = await Promise.race([ready, stopped])
  if (typeof line !== 'string') throw new Error(`The bundle does not start:\n${errors.join('\n')}`)
  const { base_url, control_url, keys } = JSON.parse(line)
  await fetch(`${control_url}/ready`)
  await bundle.run(['status', '--url', control_url], {}, { ...terminal, out: () => {} })
  await fetch(`${base_url}/data-views`, { headers: { authorization: `Bearer ${keys.user}` } })
  process.emit('SIGTERM')
  await stopped
  fs.rmSync(data, { recursive: true, force: true })
  keepCompiled()

  // V8 accepts a cache only with the flags it was written with, and the process for scripts has another flag.
  setFlagsFromString(`--max-old-space-size=${bundle.SCRIPT_LIMITS.heapMb}`)
  const { Scripts } = evaluate('scenario-process.cjs')
  await new Scripts(resolve('scenarios')).load(resolve('scenarios/happy-path.ts'))
  keepCompiled()
}

/** The licences of the packages in the bundle. Packages whose licences differ only in the copyright line share a text. */
function licences(files) {
  const packages = files.filter((file) => file.includes('node_modules/')).flatMap(packagesOf)
  const unique = new Map(packages.map((each) => [`${each.name} ${each.version}`, each]))
  const texts = new Map()
  for (const { name, version, license, copyright, text } of [...unique.values()].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    // Licences with the same words are the same, even if line breaks and quotation marks differ.
    const words = text.replaceAll(/[“”']/g, '"').split(/\s+/).join(' ')
    const shared = texts.get(words) ?? { license, text, lines: [] }
    shared.lines.push([`${name} ${version}`, ...copyright].join('\n    '))
    texts.set(words, shared)
  }
  return [
    'The files of this folder contain the software that is listed here, under the licence below each list.\n',
    ...[...texts.values()].map(
      ({ license, text, lines }) => `${license}\n\n${lines.join('\n')}\n\n${text}\n`,
    ),
  ].join(`\n${'-'.repeat(80)}\n\n`)
}

/** The package of a file, and those inside it: built files of jiti name each module by a path with package and version. */
function packagesOf(file) {
  const [, folder, name] = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(file)
  const paths = file.includes('/dist/')
    ? fs
        .readFileSync(file, 'utf8')
        .matchAll(/node_modules\/\.pnpm\/[^/"]*?@(\d[^_/"]*)[^/"]*\/node_modules\/((?:@[^/"]+\/)?[^/"]+)/g)
    : []
  const inner = new Map([...paths].map(([, version, name]) => [name, version]))
  return [
    { name, version: readJson(folder, 'package.json').version, ...licenceIn(folder) },
    ...[...inner].map(([name, version]) => ({ name, version, ...licenceOfInner(name) })),
  ]
}

function licenceOfInner(name) {
  const copyright = INSIDE_JITI[name]
  if (copyright !== undefined) return { ...licenceIn('node_modules/jiti'), copyright: [copyright] }
  // All of Babel is one repository under one licence.
  return licenceIn(join('node_modules', name.startsWith('@babel/') ? '@babel/core' : name))
}

/** The licence of an installed package. A package without one must not get into dist/ unnoticed. */
function licenceIn(folder) {
  const { license } = readJson(folder, 'package.json')
  const file = fs.readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  if (typeof license !== 'string' || file === undefined) {
    throw new Error(`${folder} states no licence; look it up and add the package to build.mjs.`)
  }
  const lines = fs.readFileSync(join(folder, file), 'utf8').replaceAll('\r', '').split('\n')
  const isCopyright = (line) => /^\s*(Copyright|\(c\)) /.test(line)
  const isHeading = (line) => /^\W*(the )?(mit|isc) license\W*(\(mit\))?\W*$|^\W*mit\W*$/i.test(line)
  const text = lines.filter((line) => !isCopyright(line) && !isHeading(line)).join('\n')
  return { license, copyright: lines.filter(isCopyright).map((line) => line.trim()), text: text.trim() }
}

/**
 * Writes one file of types for each entry point, which imports only Node and its test runner. The compiler writes a
 * declaration file for each source; the extractor collects the exports of the entry point from them.
 */
async function buildTypes() {
  const folder = fs.mkdtempSync(join(tmpdir(), 'workspace-emulator-types-'))
  process.on('exit', () => fs.rmSync(folder, { recursive: true }))
  const declarations = join(folder, 'src')
  emitDeclarations(folder, declarations)
  flatten(['index.ts'], declarations)
  const { Extractor, ExtractorConfig } = await import('@microsoft/api-extractor')

  const rollUp = (entry, output) => {
    const file = join(declarations, entry)
    const rolled = join(folder, 'rolled.d.ts')
    const compilerOptions = {
      target: 'ES2023',
      lib: ['ES2023', 'ESNext.Disposable'],
      module: 'NodeNext',
      types: ['node'],
      strict: true,
      skipLibCheck: true,
    }
    const config = ExtractorConfig.prepare({
      configObject: {
        projectFolder: resolve('.'),
        mainEntryPointFilePath: file,
        compiler: { overrideTsconfig: { compilerOptions, files: [file] } },
        dtsRollup: { enabled: true, untrimmedFilePath: rolled },
        apiReport: { enabled: false, reportFileName: 'none.api.md' },
        docModel: { enabled: false },
        tsdocMetadata: { enabled: false },
      },
      packageJsonFullPath: resolve('package.json'),
    })
    const messageCallback = (message) => {
      message.handled = message.logLevel !== 'error'
    }
    const { succeeded } = Extractor.invoke(config, { localBuild: true, messageCallback })
    if (!succeeded) throw new Error(`The types of ${entry} cannot be rolled up.`)
    // The extractor follows only exports: declarations that are merged into other modules are added here.
    const texts = [fs.readFileSync(rolled, 'utf8'), ...mergedInto(fs.readFileSync(file, 'utf8'))]
    const libraryImport = new RegExp(`^(import .* from) '${packageName}'`, 'gm')
    fs.writeFileSync(output, texts.join('\n').replaceAll(libraryImport, "$1 './index.js'"))
  }
  rollUp('index.d.ts', 'dist/index.d.ts')
  describeOptions('dist/index.d.ts')
  // The other entry points import the library as its users do.
  const library = join(declarations, 'node_modules', packageName)
  fs.mkdirSync(library, { recursive: true })
  fs.cpSync('dist/index.d.ts', join(library, 'index.d.ts'))
  fs.writeFileSync(join(library, 'package.json'), JSON.stringify({ name: packageName, types: 'index.d.ts' }))
  rollUp('vitest.d.ts', 'dist/vitest.d.mts')
  rollUp('playwright.d.ts', 'dist/playwright.d.ts')
}

/** Adds the descriptions of the start options as comments, which editors show. */
function describeOptions(file) {
  const { startOptions } = require('./dist/load.js').evaluate('emulator.cjs')
  const text = fs.readFileSync(file, 'utf8').replaceAll(/^ +(\w+): Option</gm, (line, name) => {
    const { description, shown, default: value } = startOptions[name]
    return `    /** ${description}. Default: ${shown ?? value}. */\n${line}`
  })
  fs.writeFileSync(file, text)
}

/** Writes the declarations of the entry points and of all that they import. */
function emitDeclarations(folder, outDir) {
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // `npm run types` checks the types.
    noCheck: true,
    rootDir: resolve('src'),
    outDir,
    typeRoots: [resolve('node_modules/@types')],
  }
  const files = ['index.ts', 'vitest.ts', 'playwright.ts']
  const project = {
    extends: resolve('tsconfig.json'),
    compilerOptions,
    include: [],
    files: files.map((file) => resolve('src', file)),
  }
  fs.writeFileSync(join(folder, 'emit.json'), JSON.stringify(project))
  const compiler = join(require.resolve('typescript/package.json'), '../bin/tsc')
  execFileSync(process.execPath, [compiler, '-p', join(folder, 'emit.json')], { stdio: 'inherit' })
  fs.symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  for (const file of fs.readdirSync(outDir, { recursive: true })) {
    if (file.endsWith('.d.ts')) rewriteImports(join(outDir, file), outDir)
  }
}

/** Imports of declarations end in .js; the library is imported by the name of the package. */
function rewriteImports(file, root) {
  const text = fs.readFileSync(file, 'utf8')
  const rewritten = text.replaceAll(/(from |import\()(['"])(\.[^'"]*)\.ts\2/g, (_, verb, quote, path) => {
    const isLibrary =
      /adapters.testing|(?:vitest|playwright)\.d\.ts$/.test(file) &&
      resolve(file, '..', path) === join(root, 'index')
    return `${verb}${quote}${isLibrary ? packageName : `${path}.js`}${quote}`
  })
  // Declarations that are merged into another module may use every type of their file, so all are exported.
  const exported = rewritten.replaceAll(/^(?:declare )?(?=(?:type|interface) )/gm, 'export ')
  fs.writeFileSync(file, mergedInto(text).length > 0 ? exported : rewritten)
}

/** The declarations that an entry point adds to the types of other modules. */
function mergedInto(text) {
  return text.match(/^declare module '[^']+' \{\n[\s\S]*?^\}\n/gm) ?? []
}

// Types that are inferred from zod schemas are written out: the published declarations import no zod, and a reader sees the
// fields with their comments.

/** Rewrites the inferred type aliases of declaration files. @param entries sources @param declarations folder of their declarations */
function flatten(entries, declarations) {
  ts = loadCompiler()
  const config = ts.parseJsonConfigFileContent(
    ts.readConfigFile('tsconfig.json', ts.sys.readFile).config,
    ts.sys,
    resolve('.'),
  )
  const program = ts.createProgram(
    entries.map((entry) => resolve('src', entry)),
    config.options,
  )
  const checker = program.getTypeChecker()
  const sources = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(SRC))
  const aliases = sources.flatMap((source) =>
    source.statements
      .filter((each) => ts.isTypeAliasDeclaration(each) && each.typeParameters === undefined)
      .filter((each) => INFERRED.test(each.type.getText()) && !TABLES.test(each.type.getText()))
      .map((node) => ({ source, node, type: checker.getTypeFromTypeNode(node.type) })),
  )
  const names = new Map(aliases.filter(isNamed).map((alias) => [alias.type, alias]))
  for (const source of sources) {
    const own = aliases.filter((alias) => alias.source === source)
    if (own.length > 0) rewrite(source, own, { checker, names }, declarations)
  }
}

// Two aliases of a primitive or a union of literals have the same type, so the type does not lead back to a name.
function isNamed({ node, type }) {
  return (
    (type.flags & ts.TypeFlags.Object) !== 0 &&
    node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  )
}

function rewrite(source, own, context, declarations) {
  const file = join(declarations, relative(SRC, source.fileName).replace(/\.ts$/, '.d.ts'))
  let text = fs.readFileSync(file, 'utf8')
  for (const { node, type } of own) {
    const name = node.name.text
    const declared = new RegExp(`^((?:export )?(?:declare )?type ${name} = )[^;]*;`, 'm')
    const written = partsText(node, text) ?? printed(type, { ...context, source, top: type })
    if (written === undefined) continue
    text = text.replace(declared, (_, head) => `${head}${written};`)
  }
  fs.writeFileSync(file, text)
}

function printed(type, context) {
  try {
    return print(type, context, '')
  } catch {
    return undefined
  }
}

/** The return type of a function of the same file, as the compiler has written it, comments included. */
function partsText(node, text) {
  const [, name] = /^ReturnType<typeof (\w+)>$/.exec(node.type.getText()) ?? []
  if (name === undefined) return undefined
  const parsed = ts.createSourceFile('declarations.d.ts', text, ts.ScriptTarget.Latest, true)
  const found = parsed.statements.find((each) => ts.isFunctionDeclaration(each) && each.name?.text === name)
  return found?.type?.getText()
}

function print(type, context, indent) {
  const { checker, names, source, top } = context
  if (indent.length > MAX_INDENT) throw new Error('the type refers to itself')
  const named = type === top ? undefined : names.get(type)
  if (named !== undefined) return reference(named.source.fileName, named.node.name.text, source)
  const { aliasSymbol, symbol } = type
  const alias = type === top ? undefined : aliasSymbol?.declarations?.[0]?.getSourceFile()
  if (alias?.fileName.startsWith(SRC) && !type.aliasTypeArguments?.length) {
    return reference(alias.fileName, aliasSymbol.name, source)
  }
  if (alias !== undefined && isCompilerLibrary(alias)) {
    return `${aliasSymbol.name}<${type.aliasTypeArguments.map((each) => print(each, context, indent)).join(', ')}>`
  }
  if (type.isUnion()) return union(type, context, indent)
  if (checker.isArrayType(type)) {
    const [item] = checker.getTypeArguments(type)
    const inner = print(item, context, indent)
    const isComposed = (item.isUnion() && inner.includes('|')) || inner.startsWith('readonly ')
    const list = isComposed ? `(${inner})[]` : `${inner}[]`
    return type.symbol.name === 'ReadonlyArray' ? `readonly ${list}` : list
  }
  const isObject = (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0
  if (!isObject || type.getCallSignatures().length > 0 || checker.isTupleType(type))
    return plain(type, context)
  const declared = symbol?.declarations?.find(ts.isInterfaceDeclaration)
  if (declared !== undefined && type !== top) {
    const file = declared.getSourceFile()
    return file.fileName.startsWith(SRC)
      ? reference(file.fileName, symbol.name, source)
      : plain(type, context)
  }
  return members(type, context, indent)
}

function members(type, context, indent) {
  const { checker } = context
  const inner = `${indent}    `
  const lines = checker.getPropertiesOfType(type).map((property) => {
    const comment = ts.displayPartsToString(property.getDocumentationComment(checker))
    const optional = (property.flags & ts.SymbolFlags.Optional) !== 0 ? '?' : ''
    const key = /^[A-Za-z_$][\w$]*$/.test(property.name) ? property.name : JSON.stringify(property.name)
    const value = print(checker.getTypeOfSymbol(property), context, inner)
    const doc = comment === '' ? '' : `${inner}/** ${comment.replaceAll('\n', ' ')} */\n`
    return `${doc}${inner}readonly ${key}${optional}: ${value};\n`
  })
  const indexes = checker
    .getIndexInfosOfType(type)
    .map(
      (info) =>
        `${inner}readonly [key: ${plain(info.keyType, context)}]: ${print(info.type, context, inner)};\n`,
    )
  return lines.length + indexes.length === 0 ? '{}' : `{\n${[...lines, ...indexes].join('')}${indent}}`
}

// The compiler splits boolean into two literals, and orders literals as it found them.
function union(type, context, indent) {
  const isBoolean = (each) => (each.flags & ts.TypeFlags.BooleanLiteral) !== 0
  const both = type.types.filter(isBoolean).length === 2
  const parts = type.types.filter((each) => !(both && isBoolean(each)))
  const texts = parts.map((each) => {
    const text = print(each, context, indent)
    return each.getCallSignatures().length > 0 ? `(${text})` : text
  })
  const last = (text) => Number(text === 'null') + 2 * Number(text === 'undefined')
  return [...new Set([...texts, ...(both ? ['boolean'] : [])])].sort((a, b) => last(a) - last(b)).join(' | ')
}

function plain(type, { checker, source }) {
  return checker.typeToString(type, source, ts.TypeFormatFlags.NoTruncation)
}

function isCompilerLibrary(file) {
  return /[\\/]typescript[\\/]lib[\\/]/.test(file.fileName)
}

function reference(file, name, source) {
  if (file === source.fileName) return name
  const path = relative(dirname(source.fileName), file).replace(/\.ts$/, '.js')
  return `import("${path.startsWith('.') ? path : `./${path}`}").${name}`
}
