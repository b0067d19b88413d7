import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { CONTRACT } from '../../../src/adapters/package.ts'
import { Settings } from '../../../src/core/assumptions.ts'
import { TOMORROW_KINDS } from '../../../src/core/tomorrow.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { startEmulator } from '../../../src/index.ts'
import { workspaceDocument } from '../../../src/server/control/openapi/workspace.ts'
import { type BrokenBy, CLIENTS, FILE } from './broken-by.ts'

// `npm run tomorrow:clients`: which changes of the service of tomorrow break which clients that check responses at run time. Needs
// Python with pydantic. `npm run docs` then updates the page.

/** The generators need 300 packages, so they are not among the development dependencies: the first run installs them here. */
const FOLDER = resolve('node_modules/.cache/tomorrow')
const GENERATORS = ['@hey-api/openapi-ts@0.95.0', 'orval@7.13.0', 'typescript@5.9.3']

const openapi = join(FOLDER, 'openapi.json')
const generated = join(FOLDER, 'generated')

function run(file: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(file, args, { cwd: FOLDER, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed:\n${stdout}\n${stderr}`)
}

function generate(): void {
  mkdirSync(FOLDER, { recursive: true })
  if (!existsSync(join(FOLDER, 'node_modules')))
    run('npm', 'install', '--prefix', FOLDER, '--ignore-scripts', '--no-audit', '--no-fund', ...GENERATORS)
  writeFileSync(openapi, JSON.stringify(workspaceDocument(workspaceService, new Settings(), CONTRACT)))
  const hey = {
    input: openapi,
    output: { path: join(generated, 'hey') },
    plugins: ['@hey-api/client-fetch', 'zod', { name: '@hey-api/sdk', validator: { response: 'zod' } }],
  }
  writeFileSync(join(FOLDER, 'hey.config.mjs'), `export default ${JSON.stringify(hey)}`)
  run('npx', '--no-install', 'openapi-ts', '-f', 'hey.config.mjs')
  const orval = (name: string, override: object) => ({
    input: openapi,
    output: { target: join(generated, `${name}.ts`), client: 'zod', mode: 'single', override },
  })
  const strict = { zod: { strict: { response: true } } }
  const all = { plain: orval('orval', {}), strict: orval('orval-strict', strict) }
  writeFileSync(join(FOLDER, 'orval.config.cjs'), `module.exports = ${JSON.stringify(all)}`)
  run('npx', '--no-install', 'orval', '--config', 'orval.config.cjs')
}

/** The command of a client; one in JavaScript is bundled with what was generated for it. */
async function commandOf(file: string): Promise<string[]> {
  const [name = '', ...args] = file.split(' ')
  if (name.endsWith('.py')) return ['python3', join(import.meta.dirname, name), ...args]
  const outfile = join(FOLDER, 'bundled', name)
  await build({
    entryPoints: [join(import.meta.dirname, name)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    alias: { generated },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
    },
    outfile,
  })
  return [process.execPath, outfile]
}

/** The calls of a client that fail, each with the reason. */
async function failedCalls([file = '', ...args]: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  for await (const text of child.stdout.setEncoding('utf8')) out += text
  const results = JSON.parse(out) as Record<string, string | null>
  return Object.entries(results).flatMap(([name, problem]) => (problem === null ? [] : [[name, problem]]))
}

generate()
await using emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0, fixtures: 'demo' })
const results: Record<string, BrokenBy> = {}
for (const [name, file] of Object.entries(CLIENTS)) {
  const command = await commandOf(file)
  const broken: Record<string, string[]> = {}
  for (const kind of ['today', ...TOMORROW_KINDS]) {
    const settings = kind === 'today' ? {} : { tomorrow: { only: [kind] } }
    await using sandbox = await emulator.sandbox(undefined, { settings })
    const env = { WORKSPACE_BASE_URL: sandbox.baseUrl, WORKSPACE_API_KEY: sandbox.apiKey, OPENAPI: openapi }
    const failed = await failedCalls(command, env)
    for (const [call, problem] of failed) console.log(`${name}, ${kind}, ${call}: ${problem}`)
    broken[kind] = failed.map(([call = '']) => call)
  }
  if (broken.today?.length !== 0) throw new Error(`${name} fails without any change.`)
  const { today: _, ...rest } = broken
  results[name] = rest
}
writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`)
