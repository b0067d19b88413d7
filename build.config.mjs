import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'

// Builds dist/: the command and the library in one script with every dependency inside, the large packages that not
// every run needs as files of their own, and what V8 makes of the script. Says nothing when all is well.
// All of it is CommonJS: Node starts it 7 ms sooner than modules, and gives scripts alone a cache of compiled code.

const require = createRequire(import.meta.url)
const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  sourcemap: true,
  legalComments: 'linked',
  logLevel: 'warning',
}

// V8 tells a stale cache by the length of the script alone, so that none may outlive its script.
rmSync('dist', { recursive: true, force: true })

const lazy = {}
await Promise.all([
  build({
    ...shared,
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
    entryPoints: ['src/doors/cli/load.ts'],
    outdir: 'dist',
    define: { 'import.meta.dirname': '__dirname' },
  }),
  build({
    ...shared,
    entryPoints: { 'scenario-worker': 'src/doors/scenarios/worker.ts' },
    outdir: 'dist',
    // The module form asks for its translator by createRequire, which no bundler follows.
    alias: { jiti: './node_modules/jiti/lib/jiti.cjs' },
    // Nearly all of it is the translator, whose map would be the largest file of the package.
    sourcemap: false,
  }),
])
await build({ ...shared, entryPoints: lazy, outdir: 'dist/lazy', outExtension: { '.js': '.cjs' } })

writeFileSync(
  'dist/package.json',
  `${JSON.stringify({ type: 'commonjs', version: require('./package.json').version })}\n`,
)
const { bundle, compiled } = require('./dist/load.js')
// One assignment each, by which Node and bundlers tell the names without running the file.
const names = Object.keys(bundle.library()).map((name) => `exports.${name} = library.${name}\n`)
writeFileSync('dist/index.js', `const library = require('./load.js').bundle.library()\n\n${names.join('')}`)
writeFileSync('dist/cli.js', "#!/usr/bin/env node\nrequire('./load.js').bundle.main()\n")
chmodSync('dist/cli.js', 0o755)

await warmUp(bundle)
writeFileSync('dist/emulator.cache', compiled())

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
