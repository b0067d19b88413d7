import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'

// Builds dist/: the command and the library in one script with every dependency inside, the large packages that not
// every run needs as files of their own, and what V8 makes of the script. Says nothing when all is well.

const require = createRequire(import.meta.url)
const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  legalComments: 'linked',
  logLevel: 'warning',
}

// V8 tells a stale cache by the length of the script alone.
rmSync('dist/emulator.cache', { force: true })

const lazy = {}
await Promise.all([
  build({
    ...shared,
    stdin: {
      contents: `export { main } from './src/doors/cli/main.ts'
                 export { run } from './src/doors/cli/command-line.ts'
                 export const library = () => import('./src/index.ts')`,
      resolveDir: '.',
    },
    outfile: 'dist/emulator.cjs',
    format: 'cjs',
    define: { 'import.meta.url': 'scriptUrl' },
    // Scripts that are run from a cache cannot import(); require() reads the lazy packages as well.
    supported: { 'dynamic-import': false },
    // A function, which src/doors/cli/load.ts calls as Node calls a CommonJS module.
    banner: { js: '(function (exports, require, module, scriptUrl) {' },
    footer: { js: '})' },
    plugins: [lazyPackages(lazy), leanExpress()],
  }),
  build({ ...shared, entryPoints: ['src/doors/cli/load.ts'], outdir: 'dist', format: 'esm' }),
])
await build({
  ...shared,
  entryPoints: lazy,
  outdir: 'dist/lazy',
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
})

const { bundle, compiled } = await import('./dist/load.js')
const library = await bundle.library()
writeFileSync(
  'dist/cli.js',
  "#!/usr/bin/env node\nimport { bundle } from './load.js'\n\nawait bundle.main()\n",
)
writeFileSync(
  'dist/index.js',
  `import { bundle } from './load.js'\n\nexport const { ${Object.keys(library).join(', ')} } = await bundle.library()\n`,
)
chmodSync('dist/cli.js', 0o755)

await warmUp(bundle)
writeFileSync('dist/emulator.cache', compiled())

/** Starts and asks once, since the cache holds what has run by now. Where that fails, it holds less and is good all the same. */
async function warmUp({ run }) {
  const data = mkdtempSync(join(tmpdir(), 'workspace-emulator-build-'))
  const flags = ['--json', '--port', '0', '--data', data, '--log-level', 'silent']
  let out
  const announced = new Promise((resolve) => {
    out = resolve
  })
  const stopped = run(['start', ...flags], {}, { out, err: () => {}, colours: false })
  const line = await Promise.race([announced, stopped])
  if (typeof line === 'string') {
    const { base_url, control_url, keys } = JSON.parse(line)
    await fetch(`${control_url}/ready`)
    await fetch(`${base_url}/data-views`, { headers: { authorization: `Bearer ${keys.user}` } })
    process.emit('SIGTERM')
    await stopped
  }
  rmSync(data, { recursive: true, force: true })
}

/** A package that the code imports with import() becomes a file beside the script, read when it is needed. */
function lazyPackages(found) {
  return {
    name: 'lazy-packages',
    setup({ onResolve }) {
      onResolve({ filter: /^[@a-z]/ }, ({ kind, path }) => {
        if (kind !== 'dynamic-import') return undefined
        const name = path.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-/, '')
        found[name] = path
        return { path: `./lazy/${name}.cjs`, external: true }
      })
    },
  }
}

/**
 * Express loads its body parsers with tables of a hundred character sets, and a table of 2,500 media types: together two
 * fifths of the script and a fifth of its start. Bodies are read by src/doors/http/body.ts, and few types are served.
 */
function leanExpress() {
  const types = [
    'application/json',
    'text/css',
    'text/html',
    'text/javascript',
    'text/plain',
    'image/svg+xml',
  ]
  const leftOut = `const leftOut = () => { throw new Error('The body parsers of Express are not in the bundle') }
    module.exports = { json: leftOut, raw: leftOut, text: leftOut, urlencoded: leftOut }`
  return {
    name: 'lean-express',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]mime-db[\\/]db\.json$/ }, () => {
        const all = require('mime-db')
        return {
          loader: 'json',
          contents: JSON.stringify(Object.fromEntries(types.map((type) => [type, all[type]]))),
        }
      })
      onLoad({ filter: /[\\/]body-parser[\\/]index\.js$/ }, () => ({ loader: 'js', contents: leftOut }))
    },
  }
}
