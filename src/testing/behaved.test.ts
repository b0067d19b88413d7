import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Emulator, type SandboxClient, startEmulator } from '../index.ts'
import { aPage } from '../service/builders.ts'
import { matchers } from './matchers.ts'
import { reportOn } from './report.ts'

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
})

afterAll(() => emulator.close())

const { toHaveBehaved } = matchers

async function aFreshSandbox(): Promise<SandboxClient> {
  const sandbox = await emulator.sandbox()
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  return sandbox
}

/** A client that repeats a refused creation at once, although it is told to wait two seconds. */
async function impatient(): Promise<SandboxClient> {
  const sandbox = await aFreshSandbox()
  await sandbox.faults.preset('rate-limited')
  for (let n = 0; n < 2; n++)
    await sandbox.fetch('/pages', { json: aPage(), headers: { 'Idempotency-Key': 'one' } })
  return sandbox
}

test('a client without errors has behaved', async () => {
  const sandbox = await aFreshSandbox()
  await sandbox.fetch('/data-views')
  const { pass, message } = await toHaveBehaved(sandbox)
  expect(pass).toBe(true)
  expect(message()).toContain('the report on its 1 requests has no error')
})

test('a client that retries at once has not behaved, and the message has the finding', async () => {
  const sandbox = await impatient()
  const { pass, message } = await toHaveBehaved(sandbox)
  expect(pass).toBe(false)
  expect(message()).toMatch(/report on their conduct has \d errors?:\n {2}error wait\.\S+: .*Retry-After/)
  expect(message()).toContain(`requests ${sandbox.name}-000001, ${sandbox.name}-000002`)
})

test('verdicts that are excepted do not count', async () => {
  const sandbox = await impatient()
  const { findings } = await sandbox.conduct()
  const except = findings.map(({ code }) => code)
  expect(await toHaveBehaved(sandbox, { except })).toMatchObject({ pass: true })
  await expect(toHaveBehaved(sandbox, { except: ['wait.nothing'] })).rejects.toThrow(
    /"wait\.nothing" is not the code of a verdict/,
  )
})

test('a sandbox without requests proves nothing', async () => {
  await expect(toHaveBehaved(await aFreshSandbox())).rejects.toThrow(
    'has received no request that could be judged',
  )
})

test('an unknown option is refused: a misspelled one would be ignored', async () => {
  const sandbox = await aFreshSandbox()
  await expect(toHaveBehaved(sandbox, { retry: 2 } as never)).rejects.toThrow('the unknown field retry')
})

test('the report of a failed test has errors and warnings about the client', async () => {
  const lines = (await reportOn(await impatient())).split('\n')
  const at = lines.findIndex((line) => line.startsWith('  conduct of the client: '))
  expect(lines[at + 1]).toMatch(/^ {4}error wait\./)
  const calm = await aFreshSandbox()
  await calm.fetch('/data-views')
  expect(await reportOn(calm)).not.toContain('conduct')
})
