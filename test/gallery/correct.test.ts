import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CorrectClient } from './correct.ts'
import { faultsIn, HELD, plannedRuns, runCorrectly, WebhookReceiver } from './correct-run.ts'
import { sharedEmulator } from './emulator.ts'
import { START, serviceOf } from './situation.ts'
import { VirtualTime } from './virtual-time.ts'

const { emulator, sandbox: newSandbox } = sharedEmulator()
let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await WebhookReceiver.open()
})
afterAll(() => receiver[Symbol.asyncDispose]())

/** Presets that take seconds, or hundreds of polls; `npm run gallery:runs` has them. */
const LONG = ['never-answers', 'slow', 'slow-drip', 'batch-stuck']

/** What is correct under these is a decision, so they have tests of their own. */
const IMPOSSIBLE = ['retry-after-huge', 'retry-after-int32-overflow']
const UNREADABLE = ['retry-after-garbage', 'retry-after-missing']

test('the plan of the long runs has every preset at least ten times, except a gate', async () => {
  const presets = (await emulator().defaultSandbox.faults.presets()).map(({ name }) => name)
  const plan = plannedRuns(presets, 1000)
  for (const name of presets.filter((each) => each !== HELD))
    expect(plan.filter(({ preset }) => preset === name).length, name).toBeGreaterThanOrEqual(10)
  expect(new Set(plan.map(({ seed }) => seed)).size).toBe(1000)
})

test('the correct client gets no error and no warning under two thirds of the presets', async () => {
  const presets = (await emulator().defaultSandbox.faults.presets()).map(({ name }) => name)
  const runs = plannedRuns(presets, presets.length + 1).filter(
    ({ preset = '', seed }) => seed % 3 !== 0 && ![...LONG, ...IMPOSSIBLE, ...UNREADABLE].includes(preset),
  )
  expect(runs.length).toBeGreaterThan(25)
  const found: string[] = []
  const next = async () => {
    for (let run = runs.pop(); run !== undefined; run = runs.pop()) {
      const { preset = 'no fault' } = run
      const faults = faultsIn(await runCorrectly(emulator(), receiver, run))
      found.push(...faults.map((text) => `${preset}: ${text}`))
    }
  }
  await Promise.all(Array.from({ length: 8 }, next))
  expect(found).toEqual([])
  expect(receiver.handled).toBeGreaterThan(10)
  // Dozens of runs of a whole program, some with time-outs in real time.
}, 120_000)

/** How the creation of a page ends while a preset is armed, with the virtual milliseconds between the attempts. */
async function underPreset(preset: string) {
  await using sandbox = await newSandbox(undefined, { seed: 1 })
  await sandbox.faults.preset(preset)
  const time = new VirtualTime(sandbox.clock, Date.parse(START))
  const client = new CorrectClient(serviceOf(sandbox, time, { seed: 1, timeout: 20_000 }))
  const [result] = await time.run([() => client.createPage('Roof plan')])
  const at = (await sandbox.requests.list()).map((request) => Date.parse(request.at))
  await sandbox.faults.clear()
  expect(faultsIn((await sandbox.conduct()).findings)).toEqual([])
  return { result, waits: at.slice(1).map((instant, n) => instant - (at[n] ?? 0)) }
}

describe.concurrent('what is correct where the service asks for nonsense', () => {
  test.for(IMPOSSIBLE)('it gives up at once: %s', async (preset) => {
    const { result, waits } = await underPreset(preset)
    expect(result).toHaveProperty('reason.kind', 'rate_limited')
    expect(waits).toEqual([])
  })

  test.for(UNREADABLE)('it uses its own back-off: %s', async (preset) => {
    const { result, waits } = await underPreset(preset)
    expect(result).toHaveProperty('reason.kind', 'rate_limited')
    expect(waits).toHaveLength(3)
    for (const [attempt, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(1000 * 2 ** attempt)
      expect(wait).toBeLessThanOrEqual(1500 * 2 ** attempt)
    }
  })
})
