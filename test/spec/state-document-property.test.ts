import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { checkDocument } from '../../src/core/state/document.ts'
import { advanceTo } from '../../src/core/time/run-events.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { originOf } from '../proofs/api/starting-sandbox.ts'
import { callOperation } from '../support/call-operation.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'
import { asking } from '../support/scenario-emulator.ts'
import { started } from '../support/started-scenario.ts'

const DAY = 86_400_000
const origin = await originOf({}, sampleRecords)
const check = (document: unknown) => checkDocument(document, workspaceService, false)
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/** Creates records of many kinds, then runs all events of the next `days` days. */
function live(sandbox: Sandbox, days: number): void {
  callOperation(sandbox, 'pages.create', { body: { name: 'Plan' } })
  callOperation(sandbox, 'teamspaces.create', { body: { name: 'New' } })
  callOperation(sandbox, 'batch-predictions.create', { body: batchBody() })
  callOperation(sandbox, 'agents.generate', { body: {} })
  callOperation(sandbox, 'automations.create', { body: { name: 'Nightly' }, params: { agent_id: 'agent-1' } })
  callOperation(sandbox, 'conversations.list')
  const target = sandbox.clock.now + days * DAY
  if (target < Date.UTC(9998, 0)) advanceTo(sandbox, target)
}

/** A document with an entry in nearly every list. */
async function fullDocument(): Promise<JsonObject> {
  const record = { name: 'Step', teamspace_id: 'ts-a', scope: 'teamspace' }
  const fail = () => {
    throw new Error('no')
  }
  const timeline = [
    { at: '0s', do: fail },
    { at: '0s', do: () => new Promise<never>(() => {}) },
    { at: '1h', do: [{ state: { insert_rows: { collection: 'pages', records: [record] } } }] },
    { at: '2h', do: asking() },
  ]
  const faults = [{ match: { operation: 'pages.create' }, when: { nth: 2 }, do: [{ head: { status: 503 } }] }]
  const story = { faults, timeline, on: { 'batch.completed': asking() } }
  const emulator = await started(story, { collections: sampleRecords })
  const { sandbox } = emulator
  await vi.waitUntil(() => sandbox.document().failed.length > 0, { timeout: 120_000 })
  await emulator.control('POST', '/stubs', { method: 'GET', path: '/search', body: {} })
  live(sandbox, 0)
  return copy(sandbox.document()) as unknown as JsonObject
}

/** The paths to all fields, and to the first two elements of each array. */
function pathsOf(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  const entries = Object.entries(value).slice(0, Array.isArray(value) ? 2 : undefined)
  return [path, ...entries.flatMap(([key, each]) => pathsOf(each as Json, [...path, key]))]
}

type Change = { readonly path: readonly string[]; readonly to: Json | undefined }

const values: readonly Json[] = [
  ...[null, true, -1, 0, 1, 1.5, 2 ** 40, 2 ** 48, 2 ** 53 - 1, 1e308],
  ...['', 'x', '__proto__', 'ts-a', '2026-03-02T00:00:00.000Z', '9999-12-31T23:59:59.999Z', 'page'],
  ...[[], {}, [null], { id: 'x' }, ['x']],
]

function changesOf(document: JsonObject): fc.Arbitrary<readonly Change[]> {
  const paths = pathsOf(document).filter((path) => path.length > 0)
  const kernel = fc.constantFrom(...paths.filter(([top]) => top !== 'collections'))
  const path = fc.oneof({ weight: 3, arbitrary: kernel }, fc.constantFrom(...paths))
  const change = fc.record({ path, to: fc.constantFrom(undefined, ...values) })
  return fc.array(change, { minLength: 1, maxLength: 2 })
}

// biome-ignore lint/suspicious/noExplicitAny: documents are changed at every depth.
type Any = any

function changed(document: JsonObject, all: readonly Change[]): Any {
  const result: Any = copy(document)
  for (const { path, to } of all) {
    const last = path.at(-1) as string
    let place: Any = result
    for (const key of path.slice(0, -1)) place = Object(place)[key]
    if (typeof place !== 'object' || place === null) continue
    if (to !== undefined) Object.defineProperty(place, last, { value: copy(to), ...PLAIN })
    else if (Array.isArray(place)) place.splice(Number(last), 1)
    else delete place[last]
  }
  return result
}

const PLAIN = { enumerable: true, configurable: true, writable: true }

// Defects of handlers throw in this sandbox.
test('every accepted document gives a sandbox that works, and whose own document is accepted', {
  timeout: 300_000,
}, async () => {
  const document = await fullDocument()
  expect(Object.keys(document).filter((key) => String(document[key]) === '')).toEqual([
    'idempotency',
    'places',
  ])
  expect(check(document)).toHaveProperty('state')
  let accepted = 0
  const property = fc.property(changesOf(document), (all) => {
    const checked = check(changed(document, all))
    if ('issues' in checked) return void expect(checked.issues.length).toBeGreaterThan(0)
    accepted += 1
    const sandbox = new Sandbox(origin.options, checked.state)
    live(sandbox, 3)
    const again = check(copy(sandbox.document()))
    expect('issues' in again ? again.issues : []).toEqual([])
  })
  // About one in fifteen is accepted.
  fc.assert(property, { numRuns: 150 })
  expect(accepted).toBeGreaterThan(0)
})
