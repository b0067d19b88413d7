import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Chance } from '../../src/core/random.ts'
import type { RecordingBundle } from '../../src/core/record/bundle.ts'
import { type EmulatorClient, type SandboxClient, startEmulator } from '../../src/index.ts'
import { temporaryDirectory } from '../cli/in-process.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'

const STEPS = 30

const FILES = ['file-invoice-1', 'file-invoice-2', 'file-none']
const SCENARIOS = [
  'functions',
  'functions',
  'partial-failure',
  'expired-batch',
  'webhook-trouble',
  'flaky-network',
  'stubbed-endpoints',
]

/** A script of the user, whose functions change records, batches and faults, or throw. */
const FUNCTIONS = `import { defineScenario } from 'agent-workspace-emulator'

export default defineScenario({
  pace: { validating: '1s', in_progress: { per_item: '20s', concurrency: 2 }, finalizing: '1s' },
  timeline: [
    { at: '1s', do: ({ batches, sandbox }) => sandbox.log(String(batches.list().length)) },
    { at: '5s', do: ({ batches }) => batches.latest()?.change({ outcomes: [{ every: 2, status: 'errored' }] }) },
    { at: '1m', do: ({ faults }) => faults.arm({ preset: 'rate-limited', times: 2 }) },
    { at: '2m', do: ({ batches }) => batches.latest()?.fail({ detail: 'A step has failed it.' }) },
    { at: '3m', do: () => { throw new Error('a step of the user throws') } },
  ],
  on: {
    'batch_prediction.completed': ({ batch, clock, sandbox }) => {
      const [page] = sandbox.state('pages')
      if (page) sandbox.put('pages', { ...page, id: String(page.id), name: batch.id + ' at ' + clock.now })
    },
    'batch_prediction.failed': ({ batch, faults, sandbox }) => {
      sandbox.log(batch.id)
      faults.clear()
    },
  },
})
`

interface SessionTools {
  readonly emulator: EmulatorClient
  readonly receiver: string
  readonly presets: readonly string[]
}

/** The recordings of sessions with these seeds, each with two sandboxes. */
export async function* sessions(from: number, to: number): AsyncIterable<RecordingBundle> {
  const scenarios = temporaryDirectory()
  writeFileSync(join(scenarios, 'functions.ts'), FUNCTIONS)
  await using emulator = await startEmulator({
    port: 0,
    scenarios,
    ephemeral: true,
    fixtures: 'demo',
    countCoverage: false,
  })
  let requests = 0
  const receiver = await webhookReceiver(() => [200, 500, 204, 302][requests++ % 4])
  const presets = (await emulator.defaultSandbox.faults.presets()).map(({ name }) => name)
  for (let seed = from; seed <= to; seed++)
    yield* await session(seed, { emulator, receiver: receiver.url, presets })
}

/** Uses two sandboxes at random, with faults, webhooks, scenarios, snapshots and concurrent requests, and records both. */
async function session(seed: number, tools: SessionTools): Promise<RecordingBundle[]> {
  const chance = new Chance(seed, 'session')
  const sandboxes = await Promise.all(
    ['a', 'b'].map((name) =>
      tools.emulator.sandbox(`s${seed}${name}`, { seed, rate: chance.pick([0, 1, 1_000]) }),
    ),
  )
  for (const sandbox of sandboxes)
    if (chance.next() < 0.7)
      await sandbox.webhooks.create({ url: tools.receiver, secret: `secret-of-${seed}` }).catch(() => {})
  for (let step = 0; step < STEPS; step++) {
    const count = chance.pick([1, 1, 1, 4])
    const acts = Array.from({ length: count }, () => act(chance, chance.pick(sandboxes as never), tools))
    await Promise.all(acts)
  }
  const bundles = await Promise.all(sandboxes.map((sandbox) => sandbox.record()))
  await Promise.all(sandboxes.map((sandbox) => sandbox.delete()))
  return bundles
}

async function act(chance: Chance, sandbox: SandboxClient, { presets }: SessionTools): Promise<void> {
  const which = chance.int(1, 20)
  if (which <= 10) await request(chance, sandbox)
  else if (which <= 12)
    await quietly(sandbox.faults.preset(chance.pick(presets as never), chance.pick([{}, { times: 1 }])))
  else if (which === 13) await quietly(sandbox.faults.clear())
  else if (which <= 16) await quietly(sandbox.clock.advance(chance.pick(['1s', '10m', '25h'])))
  else if (which === 17) await quietly(sandbox.clock.set({ rate: chance.pick([0, 1, 1_000]) }))
  else if (which === 18) await quietly(sandbox.scenarios.start(chance.pick(SCENARIOS as never)))
  else if (which === 19) {
    await quietly(sandbox.snapshots.save('one'))
    if (chance.next() < 0.3) await quietly(sandbox.snapshots.restore('one'))
  } else await quietly(chance.next() < 0.5 ? sandbox.scenarios.stop() : sandbox.requests.clear())
}

async function request(chance: Chance, sandbox: SandboxClient): Promise<void> {
  const key = { 'idempotency-key': `key-${chance.int(1, 5)}` }
  const json = { 'content-type': 'application/json', ...(chance.next() < 0.5 && key) }
  const post = (body: unknown) => ({ method: 'POST', headers: json, body: JSON.stringify(body) })
  const batches = '/batch-predictions'
  const known = (await sandbox.state.list('batches').catch(() => [])).at(-1)?.id ?? 'none'
  const batch = `${batches}/${String(known)}`
  const items = Array.from({ length: chance.int(1, 6) }, (_, n) => ({
    custom_id: `i${n}`,
    file_id: chance.pick(FILES as never),
  }))
  const schema = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] }
  const calls: readonly (readonly [string, RequestInit?])[] = [
    ['/data-views'],
    ['/organization/teamspaces/teamspace-harbor/users?limit=3'],
    ['/pages', post({ name: `Page ${chance.int(1, 9)}` })],
    ['/pages', post({})],
    ['/pages', { method: 'POST', headers: json, body: '{"name": ' }],
    ['/nothing'],
    [batches],
    [batches, post({ prompt: 'Read it.', output_schema: schema, model: 'model-1', items })],
    [batches, post({ prompt: 'Read it.', output_schema: schema, model: 'model-1', items })],
    [batch],
    [batch],
    [`${batch}/results`],
    [`${batch}/cancel`, { method: 'POST' }],
    ['/data-views', { headers: { authorization: 'Bearer live_unknown_key' } }],
    ['/data-views', { headers: { 'x-emulator-fault': 'server-error' } }],
  ]
  const [path, init] = chance.pick(calls as never) as (typeof calls)[number]
  const signal = AbortSignal.timeout(400)
  await quietly(sandbox.fetch(path, { ...init, signal }).then((response) => response.arrayBuffer()))
}

async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => {})
}
