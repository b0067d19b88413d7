import { createHash } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { licenses } from './licenses.mjs'
import { keepOurs } from './maps.mjs'

// Builds dist/: the command and the library in one script with every dependency inside, the large packages that not
// every run needs as files of their own, and what V8 makes of the script. Says nothing when all is well.
// All of it is CommonJS: Node starts it 7 ms sooner than modules, and gives scripts alone a cache of compiled code.

const require = createRequire(resolve('package.json'))
const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  // Those of packages stand in dist/THIRD-PARTY-LICENSES.txt, whole.
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
}
const own = { ...shared, sourcemap: true, define: { 'import.meta.dirname': '__dirname' } }

rmSync('dist', { recursive: true, force: true })

const lazy = {}
const built = await Promise.all([
  build({
    ...own,
    stdin: {
      contents: `export { main } from './src/doors/cli/main.ts'
                 export { run } from './src/doors/cli/command-line.ts'
                 export const library = () => require('./src/index.ts')`,
      resolveDir: '.',
    },
    outfile: 'dist/emulator.cjs',
    define: { 'import.meta.url': 'scriptUrl' },
    // Scripts that are run from a cache cannot import(); require() reads the lazy packages as well.
    supported: { 'dynamic-import': false },
    // A function, which src/doors/cli/load.ts calls as Node calls a CommonJS module.
    banner: { js: '(function (exports, require, module, scriptUrl) {' },
    footer: { js: '})' },
    plugins: [lazyPackages(lazy), leanExpress()],
  }),
  build({
    ...shared,
    entryPoints: { 'scenario-worker': 'src/doors/scenarios/worker.ts' },
    outdir: 'dist',
    // The module form asks for its translator by createRequire, which no bundler follows.
    alias: { jiti: './node_modules/jiti/lib/jiti.cjs' },
    // Nearly all of it is the translator, which comes without line breaks and would be given a million.
    minifyWhitespace: true,
  }),
  // Vitest itself is made of modules alone; Playwright's own loader prefers scripts.
  build({ ...own, ...doorOfTests('vitest'), format: 'esm', outExtension: { '.js': '.mjs' } }),
  build({ ...own, ...doorOfTests('playwright') }),
])
built.push(
  await build({ ...shared, entryPoints: lazy, outdir: 'dist/lazy', outExtension: { '.js': '.cjs' } }),
  // Tells the caches of different builds apart: V8 itself compares no more than the length of the script.
  await build({
    ...own,
    entryPoints: ['src/doors/cli/load.ts'],
    outdir: 'dist',
    define: { ...own.define, BUILD_ID: JSON.stringify(digest('dist/emulator.cjs')) },
  }),
)

writeFileSync(
  'dist/package.json',
  `${JSON.stringify({ type: 'commonjs', version: require('./package.json').version })}\n`,
)
const inputs = built.flatMap(({ metafile }) => Object.values(metafile.outputs).flatMap(bundled))
writeFileSync('dist/THIRD-PARTY-LICENSES.txt', licenses(inputs))
keepOurs('dist/emulator.cjs.map')
const { bundle, keepCompiled } = require('./dist/load.js')
// One assignment each, by which Node and bundlers tell the names without running the file.
const names = Object.keys(bundle.library()).map((name) => `exports.${name} = library.${name}\n`)
writeFileSync('dist/index.js', `const library = require('./load.js').bundle.library()\n\n${names.join('')}`)
writeFileSync('dist/cli.js', "#!/usr/bin/env node\nrequire('./load.js').bundle.main()\n")
chmodSync('dist/cli.js', 0o755)

await warmUp(bundle)
keepCompiled()

/** The files of which something has got into an output. */
function bundled({ inputs }) {
  return Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0)
}

function digest(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16)
}

/** Starts, asks and logs once, since the cache holds what has run by now. A bundle that cannot do that is no build. */
async function warmUp({ run }) {
  const data = mkdtempSync(join(tmpdir(), 'workspace-emulator-build-'))
  const said = []
  let out
  const announced = new Promise((resolve) => {
    out = resolve
  })
  const terminal = { out, err: (text) => said.push(text), colours: false }
  const stopped = run(['start', '--json', '--port', '0', '--data', data], {}, terminal)
  const line = await Promise.race([announced, stopped])
  if (typeof line !== 'string') throw new Error(`The bundle does not start:\n${said.join('\n')}`)
  const { base_url, control_url, keys } = JSON.parse(line)
  await fetch(`${control_url}/ready`)
  await fetch(`${base_url}/data-views`, { headers: { authorization: `Bearer ${keys.user}` } })
  process.emit('SIGTERM')
  await stopped
  rmSync(data, { recursive: true, force: true })
}

/** An entry point for a test runner: the library is the one beside it, and the runner the one of whoever uses it. */
function doorOfTests(runner) {
  const library = resolve('src/index.ts')
  return {
    entryPoints: [`src/doors/testing/${runner}.ts`],
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
            const strays = Object.keys(metafile?.inputs ?? {}).filter(
              (file) => !file.startsWith('src/doors/testing/'),
            )
            if (strays.length === 0) return undefined
            const text = `src/doors/testing/${runner}.ts bundles a second copy of ${strays.join(', ')}; import it from src/index.ts`
            return { errors: [{ text }] }
          })
        },
      },
    ],
  }
}

/** A package that the code imports with import() becomes a file beside the script, read when it is needed. */
function lazyPackages(found) {
  return {
    name: 'lazy-packages',
    setup({ onResolve }) {
      onResolve({ filter: /^[@a-z]/ }, ({ kind, path }) => {
        if (kind !== 'dynamic-import' || path.startsWith('node:')) return undefined
        const name = path.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-/, '')
        found[name] = path
        return { path: `./lazy/${name}.cjs`, external: true }
      })
    },
  }
}

/**
 * Express loads its body parsers with tables of a hundred character sets, and a table of 2,500 media types: together a
 * third of the script. Bodies are read by src/doors/http/body.ts, and few types are served.
 */
function leanExpress() {
  const types = [
    'application/json',
    'image/svg+xml',
    'text/css',
    'text/html',
    'text/javascript',
    'text/plain',
  ]
  const leftOut = `const leftOut = () => { throw new Error('The body parsers of Express are not in the bundle') }
    module.exports = { json: leftOut, raw: leftOut, text: leftOut, urlencoded: leftOut }`
  return {
    name: 'lean-express',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]mime-db[\\/]db\.json$/ }, () => {
        const all = require('mime-db')
        const served = Object.fromEntries(types.map((type) => [type, all[type]]))
        return { loader: 'json', contents: JSON.stringify(served) }
      })
      onLoad({ filter: /[\\/]body-parser[\\/]index\.js$/ }, () => ({ loader: 'js', contents: leftOut }))
    },
  }
}
