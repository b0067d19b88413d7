import { expect, test } from 'vitest'
import { checkDocument } from '../../src/core/state/document.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents are damaged at every depth.
type Any = any

const AT = '2026-03-01T13:00:00.000Z'
const ref = 'batch_predictions/b'
const event = { due_at: AT, seq: 1, urgency: 'work', description: '', kind: 'batch.start', ref }
const scheduled = { ...event, id: `batch.start:${ref}` }
const unhandled = { ...event, kind: 'batch.strt', id: `batch.strt:${ref}` }
const response = { id: 'k', fingerprint: 'f', status: 200, body: null, created_at: AT, expires_at: AT }
const { body: _, ...bodiless } = response
const story = { name: 'story', generation: 1, started_at: AT, settings: [], faults: [], stubs: [], on: [] }
const unarmed = { ...story, timeline: [{ at: '1h', do: [{ arm: { match: 7 } }] }] }
const file = { id: 'file-1', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }
const past = 2 ** 48
const HANDLED = /Did you mean "batch\.start"\? Remove the event, or use one of .*batch\.start/
const NO = /there is no teamspace/
const BOUND = /from 0 to 281474976710655/

type Damage = readonly [name: string, place: string, value: unknown, pointer: string, detail: RegExp]

/** Values that the emulator never writes at these places of a document, and that would harm it later. */
const DAMAGES: readonly Damage[] = [
  ['another format', 'format', 3, '/format', /must be 2/],
  ['an unknown key', 'shedule', [], '/shedule', /Did you mean "schedule"/],
  ['a revision below 0', 'revision', -1, '/revision', BOUND],
  ['a revision past the last one', 'revision', past, '/revision', BOUND],
  ['a clock without a zone', 'clock.now', '2026-03-01T12:00:00', '/clock/now', /ISO 8601/],
  ['a clock after its last instant', 'clock.now', '9999-01-01T00:00:00.000Z', '/clock/now', /9998/],
  ['a clock that runs backwards', 'clock.rate', -1, '/clock/rate', /at least 0/],
  ['an unknown setting', 'settings.unknown_field', 1, '/settings/unknown_field', /Did you mean/],
  ['an unknown collection', 'collections.page', [], '/collections/page', /Did you mean "pages"/],
  ['a collection that is no array', 'collections.pages', {}, '/collections/pages', /array/],
  ['a wrong record', 'collections.files.0.pages', 'ten', '/collections/files/0/pages', /number/],
  ['an unknown key of a record', 'collections.files.0.size', 1, '/collections/files/0/size', /known field/],
  ['a record twice', 'collections.files.1', file, '/collections/files/1/id', /is used twice/],
  ['a broken reference', 'collections.files.0.teamspace_id', 'x', '/collections/files/0/teamspace_id', NO],
  ['too many ids', 'counters.ids', past, '/counters/ids', BOUND],
  ['too many requests', 'counters.requests', past, '/counters/requests', BOUND],
  ['counters that lack one', 'counters.events', undefined, '/counters/events', /is required/],
  ['an event that nothing handles', 'schedule', [unhandled], '/schedule/0/kind', HANDLED],
  ['an event under another id', 'schedule', [{ ...scheduled, id: 'x' }], '/schedule/0/id', /batch\.start:/],
  ['an event twice', 'schedule', [scheduled, scheduled], '/schedule/1/id', /is used twice; give/],
  ['an event at no instant', 'schedule', [{ ...scheduled, due_at: undefined }], '/schedule/0/due_at', /./],
  ['a sequence number past the last', 'schedule', [{ ...scheduled, seq: past }], '/schedule/0/seq', BOUND],
  ['a failed event without what it was', 'failed', [{ id: 'p' }], '/failed/0/ref', /is required/],
  ['a response without its body', 'idempotency', [bodiless], '/idempotency/0/body', /is required/],
  ['a response of status 7', 'idempotency', [{ ...response, status: 7 }], '/idempotency/0/status', /200/],
  ['limits that are no list', 'limits', {}, '/limits', /array/],
  ['a place taken at no instant', 'limits', [{ id: 'x', hits: [0, 1e300] }], '/limits/0/hits/1', /./],
  ['a place taken before all time', 'limits', [{ id: 'x', hits: [-1] }], '/limits/0/hits/0', /./],
  ['a stub with a wrong path', 'stubs', [{ id: 's', path: 'x' }], '/stubs/0/path', /./],
  ['a call without a function', 'scenario_calls', [{ id: 'c' }], '/scenario_calls/0/ref', /./],
  ['a scenario that is a text', 'scenario', 's', '/scenario', /object/],
  ['a scenario without a name', 'scenario', { generation: 1 }, '/scenario/name', /is required/],
  ['a step that arms no rule', 'scenario', unarmed, '/scenario/timeline/0/do/0/arm/match', /./],
]

/** A copy of a document with one value changed, or without it. */
function damaged(document: Any, place: string, value: unknown): Any {
  const copy = structuredClone(document)
  const keys = place.split('.')
  const last = keys.pop() as string
  keys.reduce((found: Any, key) => found[key], copy)[last] = value
  return copy
}

test.for(DAMAGES)(
  'a document with %s is refused by PUT /state and by an import, and changes nothing',
  { tags: ['R284'] },
  async ([, place, value, pointer, detail]) => {
    const emulator = await testEmulator({ collections: { files: [file] } })
    await emulator.control('POST', '/snapshots', { name: 'base' })
    const { body: saved } = await emulator.control('GET', '/snapshots/base')
    const before = emulator.digest()
    for (const path of ['/state', '/snapshots/base', '/snapshots/new']) {
      const refused = await emulator.control('PUT', path, damaged(saved, place, value))
      expect([path, refused.status]).toEqual([path, 400])
      expect(refused.body.details.errors).toContainEqual({ pointer, detail: expect.stringMatching(detail) })
    }
    expect(emulator.digest()).toBe(before)
    expect((await emulator.control('GET', '/snapshots/base')).body).toEqual(saved)
    expect((await emulator.control('GET', '/snapshots/new')).status).toBe(404)
  },
)

test('a document of a version without scenarios and stubs is accepted', async () => {
  const emulator = await testEmulator()
  const { scenario: _, scenario_calls: __, stubs: ___, ...older } = emulator.sandbox.document()
  expect((await emulator.control('PUT', '/state', older)).status).toBe(200)
})

const pointersIn = (document: unknown) => {
  const checked = checkDocument(document, workspaceService, false)
  return 'issues' in checked ? checked.issues.map(({ pointer }) => pointer) : []
}

test('an invalid record is reported without the records that refer to it', async () => {
  const { sandbox } = await testEmulator({ collections: sampleRecords })
  const document: Any = structuredClone(sandbox.document())
  document.collections.teamspaces[0].access = 'ajar'
  expect(pointersIn(document)).toEqual(['/collections/teamspaces/0/access'])
  document.collections.teamspaces.shift()
  expect(pointersIn(document).length).toBeGreaterThan(3)
})

test('new events come after those of a state, also if its counter is lower than their sequence numbers', async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  await emulator.post('/batch-predictions', batchBody())
  const events = () => emulator.sandbox.document().schedule as unknown as { ref: string; seq: number }[]
  const most = Math.max(...events().map(({ seq }) => seq))
  const low = damaged(emulator.sandbox.document(), 'counters.events', 0)
  expect((await emulator.control('PUT', '/state', low)).status).toBe(200)
  const { id } = (await emulator.post('/batch-predictions', batchBody())).body
  const later = events().filter((each) => each.ref.endsWith(id))
  expect(later.map(({ seq }) => seq > most)).toEqual([true, true])
})

test('only a rule that lasts for a real time has a real instant, and a stable export has none', async () => {
  const { control } = await testEmulator({ rate: 1 })
  const plain = { id: 'a', match: { operation: 'pages.create' }, do: [{ respond: { status: 500 } }] }
  await control('POST', '/faults', plain)
  await control('POST', '/faults', { ...plain, id: 'b', when: { until: { wall_ms: 1_000 } } })
  const instantsOf = ({ clock, faults }: Any) => [clock.wall, ...faults.map((rule: Any) => rule.armed_wall)]
  const { body } = await control('GET', '/state')
  expect(instantsOf(body)).toEqual([expect.any(String), undefined, expect.any(String)])
  const { body: stable } = await control('GET', '/state?stable=true')
  expect(instantsOf(stable)).toEqual([null, undefined, undefined])
  expect((await control('PUT', '/state', stable)).status).toBe(200)
})
