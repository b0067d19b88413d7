import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { borrow, installed, write } from './consumer.ts'
import { run, succeed } from './run.ts'

const VITEST = ['--offline', 'vitest', 'run', '--testTimeout=300000', '--hookTimeout=300000']

const user = installed()

test('the packages that run are installed beside it, where npm finds them', async () => {
  console.log(`npm install of the tarball: ${user().installed.ms} ms`)
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object }
  const { out } = await succeed(user().folder, 'npm', ['ls', '--json', '--depth', '1'])
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
  const audit = await run(user().folder, 'npm', ['audit', '--registry', `http://127.0.0.1:${port}`])
  registry.close()
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object }
  expect(Object.keys(asked)).toEqual(expect.arrayContaining(Object.keys(dependencies)))
  expect(audit.out).toContain('a defect - https://example.com/1')
  expect(audit.code).toBe(1)
})

test('scenarios run from the package, and those of the user also in TypeScript', async () => {
  await write(user().folder, {
    'scenarios/mine.ts': `import { defineScenario } from 'agent-workspace-emulator'
      export default defineScenario({ timeline: [{ at: '1m', do: ({ batches }) => batches.latest()?.fail() }] })`,
  })
  const bin = join(user().folder, 'node_modules/.bin/workspace-emulator')
  const shipped = 'node_modules/agent-workspace-emulator/scenarios/happy-path.ts'
  const { out } = await succeed(user().folder, bin, ['validate', 'scenarios/mine.ts', shipped])
  expect(out.trim().split('\n')).toEqual(['scenarios/mine.ts: ok (scenario)', `${shipped}: ok (scenario)`])
})

test.for(['forks', 'threads'])('functions of scenarios run in the %s pool of Vitest', async (pool) => {
  await borrow(user().folder, ['vitest', '.bin/vitest'])
  await write(user().folder, {
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
  const finished = await run(user().folder, 'npx', [...VITEST, '--pool', pool, 'pool'], { NO_COLOR: '1' })
  expect(finished.code, finished.out + finished.err).toBe(0)
})
