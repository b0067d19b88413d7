import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultsIn } from './conduct.ts'
import { CallError, CorrectClient } from './correct.ts'
import { HELD, plannedRuns, runCorrectly, WebhookReceiver } from './correct-run.ts'
import { sharedEmulator } from './emulator.ts'
import { aGalleryBatch, START, serviceOf } from './situation.ts'
import { VirtualTime } from './virtual-time.ts'

const { emulator, sandbox: newSandbox } = sharedEmulator()
let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await WebhookReceiver.open()
})
afterAll(() => receiver[Symbol.asyncDispose]())

/** Presets that take seconds, or hundreds of polls; `npm run gallery:runs` has them. */
const LONG = ['never-answers', 'slow', 'slow-drip', 'batch-stuck']

const IMPOSSIBLE = ['retry-after-huge', 'retry-after-int32-overflow']
const UNREADABLE = ['retry-after-garbage', 'retry-after-missing']
const OF_BATCHES = [
  ...['lost-response-after-commit', 'timeout-then-late-success', 'concurrent-same-key'],
  ...['rst-before-headers', 'cut-mid-body', 'stale-keepalive', 'batch-404-after-create'],
  ...['batch-poll-transient-error', 'ndjson-crlf-split', 'ndjson-utf8-split', 'ndjson-blank-lines'],
  ...['ndjson-no-final-newline', 'ndjson-truncated-at-newline', 'ndjson-truncated-last-line'],
  ...['ndjson-abort-mid-stream', 'ndjson-stall-mid-stream', 'ndjson-out-of-order'],
  ...['ndjson-duplicate-line'],
]
const OF_LISTS = ['page-empty-has-more', 'page-cursor-deleted', 'cut-mid-body']
const REASONS = [
  ['html-error-page', 'server', 502],
  ['html-with-200', 'malformed', undefined],
  ['key-reuse-different-body', 'conflict', 409],
  ['token-revoked', 'forbidden', 401],
] as const

/** Presets that have a test of their own, which checks the findings, too. */
const OWN = [...IMPOSSIBLE, ...UNREADABLE, ...OF_BATCHES, ...OF_LISTS, ...REASONS.map(([preset]) => preset)]

test('the plan of the long runs has every preset at least ten times, except a gate', async () => {
  const presets = (await emulator().defaultSandbox.faults.presets()).map(({ name }) => name)
  const plan = plannedRuns(presets, 1000)
  for (const name of presets.filter((each) => each !== HELD))
    expect(plan.filter(({ preset }) => preset === name).length, name).toBeGreaterThanOrEqual(10)
  expect(new Set(plan.map(({ seed }) => seed)).size).toBe(1000)
})

test('the correct client gets no error and no warning under two thirds of the other presets', async () => {
  const presets = (await emulator().defaultSandbox.faults.presets()).map(({ name }) => name)
  const runs = plannedRuns(presets, presets.length + 1).filter(
    ({ preset = '', seed }) => seed % 3 !== 0 && ![...LONG, ...OWN].includes(preset),
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

/** Presets that stop responding: the client waits for its time-out. For others, a busy machine has more time. */
const SILENT_PRESETS = ['timeout-then-late-success', 'ndjson-stall-mid-stream']

/** Calls of the client while a preset is armed, with the virtual milliseconds between the requests. */
async function underPreset<T>(preset: string, call: (client: CorrectClient) => Promise<T>) {
  await using sandbox = await newSandbox(undefined, { seed: 1 })
  await sandbox.faults.preset(preset)
  const time = new VirtualTime(sandbox.clock, Date.parse(START))
  const timeout = SILENT_PRESETS.includes(preset) ? undefined : 20_000
  const service = serviceOf(sandbox, time, { seed: 1, timeout })
  const [result] = await time.run([() => call(new CorrectClient(service))])
  const at = (await sandbox.requests.list()).map((request) => Date.parse(request.at))
  await sandbox.faults.clear()
  expect(faultsIn((await sandbox.conduct()).findings)).toEqual([])
  const value = result?.status === 'fulfilled' ? result.value : undefined
  return { result, value, waits: at.slice(1).map((instant, n) => instant - (at[n] ?? 0)) }
}

describe.concurrent('what is correct where the service asks for nonsense', () => {
  test.for(IMPOSSIBLE)('it gives up at once: %s', async (preset) => {
    const { result, waits } = await underPreset(preset, (client) => client.createPage('Roof plan'))
    expect(result).toHaveProperty('reason.kind', 'rate_limited')
    expect(waits).toEqual([])
  })

  test.for(UNREADABLE)('it uses its own back-off: %s', async (preset) => {
    const { result, waits } = await underPreset(preset, (client) => client.createPage('Roof plan'))
    expect(result).toHaveProperty('reason.kind', 'rate_limited')
    expect(waits).toHaveLength(3)
    for (const [attempt, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(1000 * 2 ** attempt)
      expect(wait).toBeLessThanOrEqual(1500 * 2 ** attempt)
    }
  })
})

describe.concurrent('the correct client', () => {
  test.for(OF_BATCHES)('gets every result of one batch: %s', async (preset) => {
    const { value = [] } = await underPreset(preset, async (client) => {
      const { id } = await client.createBatch(aGalleryBatch(), 'order-1')
      await client.wait(id)
      return client.results(id)
    })
    expect(value.map(({ custom_id }) => custom_id).sort()).toEqual(['Dach', 'Fußboden', 'Türen'])
  })

  test.for(OF_LISTS)('lists every user once: %s', async (preset) => {
    const { value } = await underPreset(preset, (client) => client.listAll('teamspace-harbor'))
    // One preset deletes a user that was listed before.
    expect(value).toHaveLength(23)
  })

  test.for(REASONS)('reports why it failed: %s', async ([preset, kind, status]) => {
    const { result } = await underPreset(preset, (client) => client.createBatch(aGalleryBatch(), 'order-1'))
    const error = (result as PromiseRejectedResult).reason
    expect(error).toBeInstanceOf(CallError)
    expect(error).toMatchObject({ kind, status })
  })
})
