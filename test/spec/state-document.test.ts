import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkDocument } from '../../src/core/state/document.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { alive, dataFolder } from '../support/data-folder.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { issuesByRecord } from '../support/issues-by-record.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents are damaged at every depth.
type Any = any

const AT = '2026-03-01T13:00:00.000Z'
const event = {
  due_at: AT,
  seq: 1,
  urgency: 'work',
  description: '',
  kind: 'batch.start',
  ref: 'batch_predictions/b',
}
const scheduled = { ...event, id: 'batch.start:batch_predictions/b' }
const response = { id: 'k', fingerprint: 'f', status: 200, body: null, created_at: AT, expires_at: AT }
const call = {
  id: 'c',
  scenario: 's',
  ref: { timeline: 0 },
  at: AT,
  event: null,
  depth: 0,
  caused_by: '',
}
const story = { name: 'story', generation: 1, started_at: AT, settings: [], faults: [], stubs: [], on: [] }
const past = 2 ** 48

type Damage = readonly [name: string, members: (document: Any) => object, pointer: string, detail: RegExp]

/** Contents that the emulator never writes into a document, and that would harm it later. */
const DAMAGES: readonly Damage[] = [
  [
    'an event that nothing handles',
    () => ({ schedule: [{ ...scheduled, kind: 'batch.strt', id: 'batch.strt:batch_predictions/b' }] }),
    '/schedule/0/kind',
    /Did you mean "batch\.start"\? Remove the event, or use one of .*batch\.start/,
  ],
  [
    'an event under an id that is not its own',
    () => ({ schedule: [{ ...scheduled, id: 'x' }] }),
    '/schedule/0/id',
    /must be "batch\.start:batch_predictions\/b"/,
  ],
  ['an event twice', () => ({ schedule: [scheduled, scheduled] }), '/schedule/1/id', /is used twice; give/],
  [
    'a sequence number past the last one',
    () => ({ schedule: [{ ...scheduled, seq: past }] }),
    '/schedule/0/seq',
    /from 0 to 281474976710655/,
  ],
  ...['ids', 'uuids', 'events', 'requests'].flatMap((name): Damage[] =>
    [past, 2 ** 53 - 1].map((number) => [
      `the counter ${name} at ${number}`,
      ({ counters }) => ({ counters: { ...counters, [name]: number } }),
      `/counters/${name}`,
      /from 0 to 281474976710655/,
    ]),
  ),
  ['a revision past the last one', () => ({ revision: past }), '/revision', /from 0 to 281474976710655/],
  [
    'a failed event that says neither what it was nor why',
    () => ({ failed: [{ id: 'p' }] }),
    '/failed/0/ref',
    /is required/,
  ],
  ['a response twice', () => ({ idempotency: [response, response] }), '/idempotency/1/id', /is used twice/],
  [
    'a response without its body',
    () => ({ idempotency: [{ ...response, body: undefined }] }),
    '/idempotency/0/body',
    /is required/,
  ],
  [
    'a rate window twice',
    () => ({ limits: [0, 1].map(() => ({ id: 'w', hits: [] })) }),
    '/limits/1/id',
    /is used twice/,
  ],
  [
    'a call of a scenario twice',
    () => ({ scenario_calls: [call, call] }),
    '/scenario_calls/1/id',
    /is used twice/,
  ],
  [
    'a step of a scenario that arms no rule',
    () => ({ scenario: { ...story, timeline: [{ at: '1h', do: [{ arm: { match: 7 } }] }] } }),
    '/scenario/timeline/0/do/0/arm/match',
    /./,
  ],
]

const errorsOf = ({ body }: { body: Any }): readonly { pointer: string; detail: string }[] =>
  body.details.errors

test.for(DAMAGES)(
  'a document with %s is refused by PUT /state and by an import, and changes nothing',
  { tags: ['R284'] },
  async ([, members, pointer, detail]) => {
    const emulator = await testEmulator()
    const document = emulator.sandbox.document()
    const before = emulator.digest()
    for (const path of ['/state', '/snapshots/x']) {
      const refused = await emulator.control('PUT', path, { ...document, ...members(document) })
      expect([path, refused.status]).toEqual([path, 400])
      expect(errorsOf(refused)).toContainEqual({ pointer, detail: expect.stringMatching(detail) })
    }
    expect(emulator.digest()).toBe(before)
    expect((await emulator.post('/pages', { name: 'Mine' })).status).toBe(200)
  },
)

test('an edit of the file with an unknown event or a too large counter is refused with its pointer', async () => {
  const data = dataFolder()
  const file = join(data, 'default.json')
  let heard = (_message: string): void => {}
  const tell = (message: string): void => heard(message)
  const { emulator } = await alive(data, { logger: { info: tell, warn: tell, error: tell } })
  for (const [, members, pointer] of DAMAGES.filter(([name]) => /handles|ids at/.test(name))) {
    const refused = new Promise<string>((resolve) => {
      heard = (message) => {
        if (message.includes('has been refused')) resolve(message)
      }
    })
    const document = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...document, ...members(document) }))
    expect(await refused).toContain(pointer)
  }
  expect(emulator.sandbox.document()).toMatchObject({ schedule: [], counters: { ids: 0 } })
})

const check = (document: unknown) => {
  const checked = checkDocument(document, workspaceService, false)
  return 'issues' in checked ? checked.issues : []
}

test('all issues of a document are reported at once, each with its record', async () => {
  const { sandbox } = await testEmulator({ collections: sampleRecords })
  const document: Any = structuredClone(sandbox.document())
  document.counters.ids = -1
  document.schedule = [scheduled, { ...scheduled, kind: 'x' }]
  document.collections.files[0].pages = 'ten'
  document.collections.files[0].colour = 'red'
  document.collections.memberships[1].user_id = 'nobody'
  document.collections.agents.push(null)
  const issues = check(document)
  expect(issues.map(({ pointer }) => pointer).sort()).toEqual([
    '/collections/agents/1',
    '/collections/files/0/colour',
    '/collections/files/0/pages',
    '/collections/memberships/1/user_id',
    '/counters/ids',
    '/schedule/1/id',
  ])
  const { records, others } = issuesByRecord(document, issues)
  expect(others.map(({ pointer }) => pointer)).toEqual(['/counters/ids'])
  expect(records.map(({ issues: own, ...record }) => ({ ...record, count: own.length }))).toEqual([
    { collection: 'schedule', list: '/schedule', index: 1, id: scheduled.id, count: 1 },
    { collection: 'agents', list: '/collections/agents', index: 1, id: undefined, count: 1 },
    { collection: 'files', list: '/collections/files', index: 0, id: 'file-1', count: 2 },
    { collection: 'memberships', list: '/collections/memberships', index: 1, id: 'm-member', count: 1 },
  ])
})

test('an invalid record is reported without the records that refer to it', async () => {
  const { sandbox } = await testEmulator({ collections: sampleRecords })
  const document: Any = structuredClone(sandbox.document())
  document.collections.teamspaces[0].access = 'ajar'
  expect(check(document).map(({ pointer }) => pointer)).toEqual(['/collections/teamspaces/0/access'])
  document.collections.teamspaces.shift()
  expect(check(document).length).toBeGreaterThan(3)
})

test('a state with lower counters is accepted: later ids repeat, except ids of existing records', async () => {
  const emulator = await testEmulator()
  const older = emulator.sandbox.document()
  const create = async (): Promise<string> => (await emulator.post('/pages', { name: 'Mine' })).body.id
  const [first, second] = [await create(), await create()]
  await emulator.control('PUT', '/state', older)
  expect(emulator.sandbox.document().counters).toMatchObject(older.counters)
  expect(await create()).toBe(first)
  const [page] = emulator.state('pages')
  await emulator.control('PUT', '/state', { ...older, collections: { ...older.collections, pages: [page] } })
  expect(await create()).toBe(second)
  expect(emulator.state('pages')).toContainEqual(page)
})

test('new events come after those of a state, also if its counter is lower than their sequence numbers', async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  await emulator.post('/batch-predictions', batchBody())
  const document = emulator.sandbox.document()
  const most = Math.max(...document.schedule.map((each) => (each as Any).seq))
  const low = { ...document, counters: { ...document.counters, events: 0 } }
  expect((await emulator.control('PUT', '/state', low)).status).toBe(200)
  const id = (await emulator.post('/batch-predictions', batchBody())).body.id
  expect(sequencesOf(emulator, id).every((seq) => seq > most)).toBe(true)
})

function sequencesOf({ sandbox }: TestEmulator, batch: string): number[] {
  const events = sandbox.document().schedule as unknown as readonly {
    readonly ref: string
    readonly seq: number
  }[]
  return events.filter(({ ref }) => ref.endsWith(batch)).map(({ seq }) => seq)
}
