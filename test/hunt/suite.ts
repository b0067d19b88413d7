import assert from 'node:assert/strict'
import { CorrectClient } from '../gallery/correct.ts'
import { type CaseName, cases } from '../gallery/further/cases.ts'
import type { Surroundings } from '../gallery/further/client.ts'
import { aGalleryBatch } from '../gallery/situation.ts'

// The tests of one client, named by the first argument: what it does when nothing fails. Waits advance the clock of the emulator.

const { WORKSPACE_BASE_URL: baseUrl = '', WORKSPACE_API_KEY: apiKey = '' } = process.env
const emulator = process.env.WORKSPACE_EMULATOR_URL ?? ''

async function control(path: string, body: object): Promise<{ readonly to: string }> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${emulator}/__emulator${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  assert.ok(response.ok, `${path}: ${response.status}`)
  return (await response.json()) as { readonly to: string }
}

let now = Date.parse('2026-03-01T12:00:00Z')

async function sleep(ms: number): Promise<void> {
  const wait = ms >= 1 ? Math.round(ms) : 1
  now = Date.parse((await control('/clock/advance', { by: `${wait}ms` })).to)
}

const surroundings: Surroundings = {
  baseUrl,
  apiKey,
  sleep,
  webhooks: { secret: 'webhook-secret', subscribe: (url) => control('/webhooks', { url }) },
}

const expected: Readonly<Record<CaseName, (run: () => Promise<unknown>) => Promise<void>>> = {
  'retry-after-in-milliseconds': hasRows,
  'retry-after-only-on-429': hasRows,
  'invalid-request-retried': (run) => assert.rejects(run(), /validation_failed/),
  'callers-key-never-sent': async (run) =>
    assert.equal(typeof ((await run()) as { id: string }).id, 'string'),
  'key-in-the-url': hasRows,
  'stream-left-open': async (run) => {
    const { first } = (await run()) as { readonly first: readonly string[] }
    assert.deepEqual(first, ['march-1', 'april-1', 'may-1'])
    process.exit(0)
  },
  'first-page-only': async (run) => assert.equal(((await run()) as readonly unknown[]).length, 5),
  'poll-without-pause': async (run) => assert.rejects(run(), /did not end in time/),
  'chunk-taken-for-lines': async (run) => assert.equal(((await run()) as readonly unknown[]).length, 3),
  'stale-webhook-accepted': async (run) => assert.equal(((await run()) as readonly unknown[]).length, 1),
}

async function hasRows(run: () => Promise<unknown>): Promise<void> {
  assert.ok(((await run()) as { readonly data: readonly unknown[] }).data.length > 0)
}

async function correct(): Promise<void> {
  const client = new CorrectClient({
    baseUrl,
    apiKey,
    sleep,
    now: () => now,
    random: Math.random,
    timeout: 2000,
  })
  assert.equal((await client.listAll('teamspace-harbor')).length, 23)
  assert.equal(typeof (await client.createPage('Roof plan')).id, 'string')
  const { id } = await client.createBatch(aGalleryBatch(), 'order-1')
  assert.equal((await client.wait(id)).status, 'completed')
  const results = await client.results(id)
  assert.deepEqual(results.map(({ custom_id }) => custom_id).sort(), ['Dach', 'Fußboden', 'Türen'])
}

const name = process.argv[2] ?? ''
const found = cases.find((each) => each.name === name)
if (name === 'correct') await correct()
else if (found === undefined) throw new Error(`There is no client "${name}".`)
else await expected[found.name](() => found.run(surroundings))
