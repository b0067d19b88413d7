import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { borrow, type Consumer, consumer, write } from './consumer.ts'
import { PATIENCE, run, succeed } from './run.ts'
import { type Packed, pack } from './tarball.ts'

/** The arguments to run a suite; only a test that hangs reaches these timeouts. */
const VITEST = ['--offline', 'vitest', 'run', '--testTimeout=300000', '--hookTimeout=300000']

let packed: Packed
let user: Consumer

beforeAll(async () => {
  packed = await pack()
  user = await consumer(packed.tarball)
}, PATIENCE)

afterAll(async () => {
  await user?.remove()
  await packed?.remove()
})

test('the packages that run are installed beside it, where npm finds them', async () => {
  console.log(`npm install of the tarball: ${user.installed.ms} ms`)
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object }
  const { out } = await succeed(user.folder, 'npm', ['ls', '--json', '--depth', '1'])
  const listed = JSON.parse(out) as { dependencies: Record<string, { dependencies: object }> }
  const own = listed.dependencies['agent-workspace-emulator']?.dependencies ?? {}
  // The test runners are optional peers, which npm lists without a version.
  expect(Object.keys(own)).toEqual(expect.arrayContaining(Object.keys(dependencies)))
  expect(Object.keys(own)).toContain('express')
})

test('npm audit asks about the packages that run, and names one with a defect', async () => {
  let asked: Record<string, readonly string[]> = {}
  // A registry with one advisory. What else npm asks for is not there, so that it gives less detail.
  const registry = createServer(async (req, res) => {
    if (req.url !== '/-/npm/v1/security/advisories/bulk') return void res.writeHead(404).end('{}')
    asked = JSON.parse(gunzipSync(await buffer(req)).toString())
    const advisory = { id: 1, url: 'https://example.com/1', title: 'a defect', severity: 'high' }
    res.end(JSON.stringify({ express: [{ ...advisory, vulnerable_versions: '*', cwe: [], cvss: null }] }))
  })
  await once(registry.listen(0, '127.0.0.1'), 'listening')
  const { port } = registry.address() as AddressInfo
  const audit = await run(user.folder, 'npm', ['audit', '--registry', `http://127.0.0.1:${port}`])
  registry.close()
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object }
  expect(Object.keys(asked)).toEqual(expect.arrayContaining(Object.keys(dependencies)))
  expect(audit.out).toContain('a defect - https://example.com/1')
  expect(audit.code).toBe(1)
})

test('the OpenAPI document and the schemas can be imported by their names', async () => {
  const program = `
    const names = ['openapi.json', 'fixtures.schema.json', 'state.schema.json']
    console.log(names.map((name) => typeof require('agent-workspace-emulator/' + name)).join())
  `
  await write(user.folder, { 'documents.cjs': program })
  const { out } = await succeed(user.folder, process.execPath, ['documents.cjs'])
  expect(out.trim()).toBe('object,object,object')
})

test('npx runs the command of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const said = await succeed(user.folder, 'npx', ['--offline', 'agent-workspace-emulator', '--version'])
  expect(said.out.trim()).toBe(version)
})

const PROGRAM = `
  const said = []
  const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  said.push((await fetch(emulator.controlUrl + '/ready')).status)
  said.push((await fetch(new URL('/__emulator/ready', emulator.baseUrl))).status)
  await emulator.close()
  console.log(JSON.stringify([...said, typeof connect, typeof defineScenario]))
`

test('the library can be loaded with require and with import', async () => {
  const names = '{ startEmulator, connect, defineScenario }'
  await write(user.folder, {
    'program.cjs': `const ${names} = require('agent-workspace-emulator');(async () => {${PROGRAM}})()`,
    'program.mjs': `import ${names} from 'agent-workspace-emulator'\n${PROGRAM}`,
  })
  for (const file of ['program.cjs', 'program.mjs']) {
    const { out } = await succeed(user.folder, process.execPath, [file])
    expect(JSON.parse(out), file).toEqual([200, 200, 'function', 'function'])
  }
})

test('every entry point can be resolved', async () => {
  await write(user.folder, {
    'entries.mjs': `for (const entry of ['', '/vitest', '/playwright', '/package.json'])
      console.log(import.meta.resolve('agent-workspace-emulator' + entry))`,
  })
  const { out } = await succeed(user.folder, process.execPath, ['entries.mjs'])
  const files = out.trim().split('\n')
  expect(files.map((file) => file.replace(/^.*\/node_modules\/agent-workspace-emulator\//, ''))).toEqual([
    'dist/index.js',
    'dist/vitest.mjs',
    'dist/playwright.js',
    'package.json',
  ])
  for (const file of files) expect(readFileSync(new URL(file)).length).toBeGreaterThan(0)
})

test('exec starts an emulator for a command and exits with its code; wait finds the emulator', async () => {
  const bin = join(user.folder, 'node_modules/.bin/workspace-emulator')
  const script = `fetch(process.env.WORKSPACE_BASE_URL + '/data-views', {
      headers: { authorization: 'Bearer ' + process.env.WORKSPACE_API_KEY } }).then(({ status }) => process.exit(status - 193))`
  expect((await run(user.folder, bin, ['exec', '--', process.execPath, '-e', script])).code).toBe(7)
  const waited = await run(user.folder, bin, ['exec', '--', bin, 'wait', '--timeout', '20s'])
  expect(waited.out).toMatch(/Ready: http:\/\/127\.0\.0\.1:\d+/)
  expect(waited.code).toBe(0)
})

test('scenarios run from the package, and those of the user also in TypeScript', async () => {
  await write(user.folder, {
    'scenarios/mine.ts': `import { defineScenario } from 'agent-workspace-emulator'
      export default defineScenario({ timeline: [{ at: '1m', do: ({ batches }) => batches.latest()?.fail() }] })`,
  })
  const bin = join(user.folder, 'node_modules/.bin/workspace-emulator')
  const shipped = 'node_modules/agent-workspace-emulator/scenarios/happy-path.ts'
  const { out } = await succeed(user.folder, bin, ['validate', 'scenarios/mine.ts', shipped])
  expect(out.trim().split('\n')).toEqual(['scenarios/mine.ts: ok (scenario)', `${shipped}: ok (scenario)`])
})

test('the example test of the README passes', async () => {
  await borrow(user.folder, ['vitest', '.bin/vitest'])
  await write(user.folder, { 'first.test.ts': firstTest(readFileSync('README.md', 'utf8')) })
  const finished = await run(user.folder, 'npx', VITEST, { NO_COLOR: '1' })
  console.log(`npx vitest run with the first test of the README: ${finished.ms} ms`)
  expect(finished.code, finished.out + finished.err).toBe(0)
  expect(finished.out).toMatch(/Tests {2}\d+ passed/)
})

test.for(['forks', 'threads'])('functions of scenarios run in the %s pool of Vitest', async (pool) => {
  await borrow(user.folder, ['vitest', '.bin/vitest'])
  await write(user.folder, {
    'scenarios/arming.ts': `import { defineScenario } from 'agent-workspace-emulator'
      const arm = ({ faults, sandbox }) => faults.arm({ id: 'armed-' + sandbox.state('api_keys').length, preset: 'rate-limited' })
      export default defineScenario({ timeline: [{ at: '1m', do: arm }] })`,
    'pool/arming.test.ts': `import { expect, test } from 'agent-workspace-emulator/vitest'
      test.override({ sandboxOptions: { scenario: 'arming' } })
      test('a step is called', async ({ sandbox }) => {
        await sandbox.clock.advance('2m')
        const rules = await sandbox.faults.list()
        expect(rules.map(({ id }) => id)).toEqual([expect.stringMatching(/^armed-[1-9]/)])
      })`,
  })
  const finished = await run(user.folder, 'npx', [...VITEST, '--pool', pool, 'pool'], { NO_COLOR: '1' })
  expect(finished.code, finished.out + finished.err).toBe(0)
})

/** The first script in the section "In tests" that uses our Vitest entry point. */
function firstTest(readme: string): string {
  const [, section = ''] = readme.split('\n## In tests\n')
  const blocks = [...section.matchAll(/```ts[^\n]*\n([\s\S]*?)```/g)].map(([, code = '']) => code)
  const block = blocks.find((code) => code.includes("from 'agent-workspace-emulator/vitest'"))
  if (block === undefined) throw new Error('README.md has no test below "## In tests".')
  return block
}
