import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arm, checkDraft } from '../../src/core/faults/arm.ts'
import type { FaultDraft } from '../../src/core/faults/rule.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { checkDocument } from '../../src/core/state/document.ts'
import { advanceTo } from '../../src/core/time/run-events.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { originOf } from '../proofs/api/starting-sandbox.ts'
import { START } from '../support/base-state.ts'
import { callOperation } from '../support/call-operation.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

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

/** A document with an entry in every list. */
function fullDocument(): JsonObject {
  const sandbox = new Sandbox(origin.options, origin.start)
  live(sandbox, 0)
  const rule = { match: { operation: 'pages.create' }, when: { nth: 2 }, do: [{ head: { status: 503 } }] }
  const { draft } = checkDraft(rule, workspaceService, sandbox.settings) as { draft: FaultDraft }
  change(sandbox, (scope) => arm(scope, workspaceService, draft, 'control', START))
  callOperation(sandbox, 'pages.create', { body: { name: 'Counted' } })
  const document = copy(sandbox.document()) as unknown as Record<string, unknown[]>
  const event = { due_at: '2026-03-01T13:00:00.000Z', urgency: 'work', description: 'A step.' }
  const about = (kind: string, ref: string) => ({ ...event, kind, ref, id: `${kind}:${ref}` })
  document.schedule?.push({ ...about('scenario.step', 'scenario/story/0'), seq: 90, caused_by: 'x' })
  document.failed?.push({ ...about('scenario.call', 'scenario/story/1'), seq: 9, error: 'no' })
  const call = { scenario: 'story', ref: { timeline: 1 }, at: START, event: null, depth: 0, caused_by: 'x' }
  const record = { name: 'Step', teamspace_id: 'ts-a', scope: 'teamspace' }
  const rows = { insert_rows: { collection: 'pages', records: [record] } }
  const timeline = [
    { at: '1h', do: [{ state: rows }, { clear: 'fault' }] },
    { at: '2h', do: 'function' },
  ]
  const facts = { settings: [], faults: [], stubs: [], on: ['batch.completed'] }
  const stub = { method: 'GET', path: '/search', status: 200, headers: {}, body: {} }
  return {
    ...document,
    stubs: [{ id: 'stub', source: 'control', ...stub }],
    scenario_calls: [{ id: 'scenario/story/1#1', ...call }],
    scenario: { name: 'story', generation: 1, started_at: START, timeline, ...facts },
  } as never
}

const document = fullDocument()

/** The paths to all fields, and to the first two elements of each array. */
function pathsOf(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  const entries = Object.entries(value).slice(0, Array.isArray(value) ? 2 : undefined)
  return [path, ...entries.flatMap(([key, each]) => pathsOf(each as Json, [...path, key]))]
}

const paths = pathsOf(document).filter((path) => path.length > 0)
const kernelPaths = paths.filter(([top]) => top !== 'collections')

type Change = { readonly path: readonly string[]; readonly to: Json | undefined }

const values: readonly Json[] = [
  ...[null, true, -1, 0, 1, 1.5, 2 ** 40, 2 ** 48, 2 ** 53 - 1, 1e308],
  ...['', 'x', '__proto__', 'ts-a', '2026-03-02T00:00:00.000Z', '9999-12-31T23:59:59.999Z', 'page'],
  ...[[], {}, [null], { id: 'x' }, ['x']],
]
const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.record({
    path: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...kernelPaths) }, fc.constantFrom(...paths)),
    to: fc.constantFrom(undefined, ...values),
  }),
  { minLength: 1, maxLength: 2 },
)

// biome-ignore lint/suspicious/noExplicitAny: documents are changed at every depth.
type Any = any

function changed(all: readonly Change[]): Any {
  const result: Any = copy(document)
  for (const { path, to } of all) {
    const last = path.at(-1) as string
    let place: Any = result
    for (const key of path.slice(0, -1)) place = Object(place)[key]
    if (typeof place !== 'object' || place === null) continue
    if (to !== undefined) Object.defineProperty(place, last, { value: to, ...PLAIN })
    else if (Array.isArray(place)) place.splice(Number(last), 1)
    else delete place[last]
  }
  return result
}

const PLAIN = { enumerable: true, configurable: true, writable: true }

// Defects of handlers throw in this sandbox.
test('every accepted document gives a sandbox that works, and whose own document is accepted', {
  timeout: 300_000,
}, () => {
  expect(check(document)).toHaveProperty('state')
  let accepted = 0
  const property = fc.property(changes, (all) => {
    const checked = check(changed(all))
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
