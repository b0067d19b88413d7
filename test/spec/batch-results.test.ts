import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { Answer } from '../../src/kernel/perform.ts'
import { batchStatuses } from '../../src/resources/batch-predictions/states.ts'
import { KEYS } from '../support/base-world.ts'
import { callBatches } from '../support/batch-calls.ts'
import {
  aBatch,
  batchWorld,
  bring,
  cancel,
  counts,
  createBatch,
  expectProblem,
  intervene,
  linesOf,
  refusedProblem,
  retrieve,
} from '../support/batches.ts'
import type { TestWorld } from '../support/world.ts'

const Ajv = createRequire(import.meta.url)('ajv/dist/2020.js').default

const TERMINAL = ['completed', 'failed', 'expired', 'cancelled'] as const
const ITEM_PACE = { 'batch.pace': { in_progress: { per_item: '100ms', concurrency: 1 } } }

/** A batch of ten of which four are finished, one of them errored, brought to an end. */
async function endedHalfway(world: TestWorld, status: string) {
  const { id } = await createBatch(world, { items: 10 })
  world.advance('2400ms')
  return await bring(world, id, status)
}

const halfway = () =>
  batchWorld({ ...ITEM_PACE, 'batch.outcomes': [{ match: { index: 2 }, status: 'errored' }] })

test.for([
  ['completed', { succeeded: 9, errored: 1 }],
  ['failed', { succeeded: 3, errored: 7 }],
  ['expired', { succeeded: 3, errored: 1, expired: 6 }],
  ['cancelled', { succeeded: 3, errored: 1, canceled: 6 }],
] as const)(
  'R094 R095 R097 R098 R099 R112 R213 T16 T17 a %s batch has one line for each item, as its counts say',
  async ([status, expected]) => {
    const world = await halfway()
    const batch = await endedHalfway(world, status)
    expect(counts(batch)).toEqual({ total: 10, ...expected })
    const lines = await linesOf(world, batch.id)
    expect(lines.map((line) => line.custom_id)).toEqual(Array.from({ length: 10 }, (_, n) => `item-${n}`))
    for (const word of ['succeeded', 'errored', 'canceled', 'expired']) {
      expect(lines.filter((line) => line.status === word)).toHaveLength(batch.request_counts[word])
    }
    for (const line of lines) {
      expect(Object.keys(line)).toEqual(['object', 'batch_id', 'custom_id', 'status', 'output', 'error'])
      expect([line.object, line.batch_id]).toEqual(['batch_prediction.result', batch.id])
      const good = line.status === 'succeeded'
      expect(line.output).toEqual(good ? { total: expect.any(Number) } : null)
      if (good) expect(line.error).toBeNull()
      else expect(Object.keys(line.error)).toEqual(['type', 'title', 'status', 'detail'])
    }
    expect(lines.slice(0, 4).map((line) => line.status)).toEqual([
      'succeeded',
      'succeeded',
      'errored',
      'succeeded',
    ])
  },
)

test('R251 T19 an errored line is a prediction that failed, with a status of 422 that no answer has', async () => {
  const world = await batchWorld({ 'batch.outcomes': [{ status: 'errored', detail: 'unreadable scan' }] })
  const { id } = await createBatch(world)
  await bring(world, id, 'completed')
  const answer = await world.get(`/batch-predictions/${id}/results`)
  expect(answer.status).toBe(200)
  const [line] = await linesOf(world, id)
  expect(line.error).toEqual({
    type: expect.stringMatching(/\/prediction_failed$/),
    title: 'Prediction Failed',
    status: 422,
    detail: 'unreadable scan',
  })
})

test('U049 lines of canceled and expired items have a problem that settings name', async () => {
  const world = await halfway()
  const cancelled = await endedHalfway(world, 'cancelled')
  const [line] = (await linesOf(world, cancelled.id)).slice(-1)
  expect(line.error).toEqual({
    type: expect.stringMatching(/\/canceled$/),
    title: 'Canceled',
    status: 422,
    detail: 'The batch was cancelled before 6 of 10 items were finished.',
  })
  expect((await world.get(`/batch-predictions/${cancelled.id}/results`)).assumed).toContain('U049')
  const named = { code: 'gone_by', title: 'Gone By', status: 410 }
  world.sandbox.setSettings({ ...ITEM_PACE, 'errors.item_problem.expired': named })
  const expired = await endedHalfway(world, 'expired')
  expect((await linesOf(world, expired.id)).at(-1).error).toMatchObject({
    type: expect.stringMatching(/\/gone_by$/),
    title: 'Gone By',
    status: 410,
  })
})

test('T17 a setting makes the unfinished items of a failed batch canceled', async () => {
  const world = await batchWorld({ ...ITEM_PACE, 'batch.failed_items': 'canceled' })
  const batch = await endedHalfway(world, 'failed')
  expect(counts(batch)).toEqual({ total: 10, succeeded: 4, canceled: 6 })
  expect((await linesOf(world, batch.id)).at(-1)).toMatchObject({ status: 'canceled', output: null })
})

test('R100 every generated output satisfies the schema of its batch', async () => {
  const world = await batchWorld()
  const output_schema = {
    type: 'object',
    properties: {
      number: { type: 'string', pattern: '^INV-[0-9]{4}$' },
      total: { type: 'number', minimum: 0, multipleOf: 0.01 },
      due: { type: 'string', format: 'date' },
      lines: {
        type: 'array',
        minItems: 1,
        maxItems: 3,
        items: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      },
    },
    required: ['number', 'total', 'lines'],
    additionalProperties: false,
  }
  const { id } = await createBatch(world, { items: 200, output_schema })
  await bring(world, id, 'completed')
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(output_schema)
  const outputs = (await linesOf(world, id)).map((line) => line.output)
  expect(outputs.filter((output) => !validate(output))).toEqual([])
  expect(new Set(outputs.map((output) => JSON.stringify(output))).size).toBeGreaterThan(150)
})

test('R100 an output of a rule is sent as given, and one that does not satisfy the schema is flagged instead', async () => {
  const outcomes = [
    { match: { custom_id: 'item-0' }, output: { total: 12.5 } },
    { match: { custom_id: 'item-1' }, output: { total: 'much' } },
  ]
  const world = await batchWorld({ 'batch.outcomes': outcomes })
  const { id } = await createBatch(world)
  const batch = await bring(world, id, 'completed')
  expect(counts(batch)).toEqual({ total: 3, succeeded: 2, errored: 1 })
  const [first, second] = await linesOf(world, id)
  expect(first).toMatchObject({ status: 'succeeded', output: { total: 12.5 } })
  expect(second).toMatchObject({ status: 'errored', output: null, error: { status: 422 } })
  expect(second.error.detail).toContain('outcome rule 1')
  expect(second.error.detail).toContain('/total')
  expect(intervene(world, 'show', id).invalid_outputs).toEqual([
    { stage: 0, rule: 1, errors: [{ pointer: '/total', detail: expect.any(String) }] },
  ])
})

const ODD_IDS = [
  '"quoted"',
  'a\nb',
  'a\r\nb',
  'a\u2028b\u2029c',
  '\u{1F600}'.repeat(128),
  'x'.repeat(128),
  '\ud800',
  '\u0000',
  '__proto__',
  '\\',
  '</script>',
]

test('R096 R212 every custom_id comes back as it was, once, and no line has a break inside', async () => {
  const world = await batchWorld()
  const items = ODD_IDS.map((custom_id) => ({ custom_id, file_id: 'file-pdf' }))
  const { id } = await createBatch(world, { items })
  await bring(world, id, 'completed')
  const { text } = await world.get(`/batch-predictions/${id}/results`)
  expect(text.endsWith('\n')).toBe(true)
  const lines = text.split('\n').filter((line) => line !== '')
  expect(lines).toHaveLength(ODD_IDS.length)
  expect(lines.map((line) => JSON.parse(line).custom_id)).toEqual(ODD_IDS)
  expect(text).not.toContain('\r')
})

test('R212 read in pieces of one byte the lines are the same', async () => {
  const world = await batchWorld()
  const items = [{ custom_id: '\u{1F600}\n\u00e9', file_id: 'file-pdf' }]
  const { id } = await createBatch(world, { items })
  await bring(world, id, 'completed')
  const { text } = await world.get(`/batch-predictions/${id}/results`)
  const decoder = new TextDecoder()
  let pieced = ''
  for (const byte of new TextEncoder().encode(text))
    pieced += decoder.decode(Uint8Array.of(byte), { stream: true })
  expect(JSON.parse(pieced)).toEqual(JSON.parse(text))
})

test('R211 results are NDJSON, not an array', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  await bring(world, id, 'completed')
  const { headers, text } = await world.get(`/batch-predictions/${id}/results`)
  expect(headers.get('content-type')).toBe('application/x-ndjson')
  expect(text.startsWith('{')).toBe(true)
})

test.for(batchStatuses.filter((status) => !(TERMINAL as readonly string[]).includes(status)))(
  'R214 U042 results of a batch that is %s are refused whole',
  async (status) => {
    const world = await batchWorld()
    const { id } = await createBatch(world)
    await bring(world, id, status)
    const answer = await refusedProblem(
      world,
      () => world.get(`/batch-predictions/${id}/results`),
      409,
      'results_not_ready',
    )
    expect(answer.body.detail).toContain(status)
    expect(answer.assumed).toEqual(expect.arrayContaining(['U040', 'U042']))
  },
)

test('U042 a setting chooses the status of results that are not ready', async () => {
  const world = await batchWorld({ 'status.results_not_ready': 404 })
  const { id } = await createBatch(world)
  expectProblem(await world.get(`/batch-predictions/${id}/results`), 404, 'results_not_ready')
})

test('R215 R250 results are there up to cleanup and 410 after it', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  world.advance(`${29 * 86_400_000 - 1}ms`)
  expect((await world.get(`/batch-predictions/${id}/results`)).status).toBe(200)
  world.advance('1ms')
  const answer = await refusedProblem(
    world,
    () => world.get(`/batch-predictions/${id}/results`),
    410,
    'results_gone',
  )
  expect(answer.body.status).toBe(410)
})

test.for(['submission', 'shuffled'])(
  'R216 U048 results in the order "%s" are the same bytes when read again, also after a restart',
  async (order) => {
    const world = await batchWorld({ 'batch.results.order': order })
    const { id } = await createBatch(world, { items: 300 })
    await bring(world, id, 'completed')
    const read = async (where: TestWorld) => (await where.get(`/batch-predictions/${id}/results`)).text
    const first = await read(world)
    expect(await read(world)).toBe(first)
    world.advance('1d')
    expect(await read(await world.restart())).toBe(first)
  },
)

test('U048 shuffled lines are every line once, in another order than that of submission', async () => {
  const world = await batchWorld({ 'batch.results.order': 'shuffled' })
  const { id } = await createBatch(world, { items: 500 })
  await bring(world, id, 'completed')
  const ids = (await linesOf(world, id)).map((line) => line.custom_id)
  const sorted = Array.from({ length: 500 }, (_, n) => `item-${n}`)
  expect(ids).not.toEqual(sorted)
  expect(new Set(ids)).toEqual(new Set(sorted))
})

test('R092 T29 U047 results_url leads to the results from the address of any request', async () => {
  for (const status of TERMINAL) {
    const world = await batchWorld()
    const { id } = await createBatch(world)
    const { results_url } = await bring(world, id, status)
    expect(results_url).toBe(`/v1/batch-predictions/${id}/results`)
    const url = new URL(results_url, `${world.baseUrl}/batch-predictions/${id}`)
    const answer = await fetch(url, { headers: { authorization: `Bearer ${KEYS.KU}` } })
    expect([answer.status, (await answer.text()).split('\n')]).toEqual([200, expect.any(Array)])
  }
})

test('T29 where the path selects the sandbox, results_url stays in it', async () => {
  const world = await batchWorld()
  const created = callBatches(world.sandbox, 'create', { body: aBatch(), pathPrefix: '/@w3' })
  const { results_url } = await bring(world, created.body.id, 'completed')
  expect(results_url).toBe(`/@w3/v1/batch-predictions/${created.body.id}/results`)
})

test('U047 a setting makes results_url relative to the base URL', async () => {
  const world = await batchWorld({ 'batch.results_url': 'base_relative' })
  const { id } = await createBatch(world)
  const { results_url } = await bring(world, id, 'completed')
  expect(results_url).toBe(`/batch-predictions/${id}/results`)
  expect((await world.get(results_url)).status).toBe(200)
})

const BIG = 'x'.repeat(8_192)

/** Counts the lines that are made for the answers of a world, and the streams that were ended. */
function watchLines(world: TestWorld): { made: number; ended: number } {
  const seen = { made: 0, ended: 0 }
  const perform = world.sandbox.perform.bind(world.sandbox)
  function* watched(lines: Iterable<string>) {
    try {
      for (const line of lines) {
        seen.made += 1
        yield line
      }
    } finally {
      seen.ended += 1
    }
  }
  world.sandbox.perform = (call): Answer => {
    const answer = perform(call)
    return answer.lines === undefined ? answer : { ...answer, lines: watched(answer.lines) }
  }
  return seen
}

test('R217 5,000 lines are made as they are read: slow readers hold little, and those that leave hold nothing', async () => {
  const outcomes = [{ output: { total: 1, text: BIG } }]
  const world = await batchWorld({ 'batch.outcomes': outcomes })
  const { id } = await createBatch(world, { items: 5_000 })
  world.advance('1h')
  const seen = watchLines(world)
  const { port } = new URL(world.baseUrl)
  const head = `GET /v1/batch-predictions/${id}/results HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`
  const readers = await Promise.all(
    Array.from({ length: 5 }, () =>
      slowReader(Number(port), `${head}Authorization: Bearer ${KEYS.KU}\r\n\r\n`),
    ),
  )
  // Each has had its first bytes and reads no further: once the buffers of the system are full, no line is made any more.
  let before = 0
  while (before !== seen.made) {
    before = seen.made
    for (let n = 0; n < 10; n++) await retrieve(world, id)
  }
  expect(seen.made).toBeGreaterThan(0)
  expect(seen.made).toBeLessThan(5 * 5_000)
  expect(seen.ended).toBe(0)
  for (const reader of readers) reader.destroy()
  await expect.poll(() => seen.ended).toBe(5)
  expect(seen.made).toBe(before)
  expect(counts(await retrieve(world, id))).toEqual({ total: 5_000, succeeded: 5_000 })
})

/** Sends a request and stops reading after the first bytes of the answer. */
function slowReader(port: number, request: string): Promise<ReturnType<typeof connect>> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.once('data', () => {
      socket.pause()
      resolve(socket)
    })
    socket.once('error', reject)
  })
}

test('R109 R112 T15 work in flight at a cancel is finished while cancelling, where a setting says so', async () => {
  const pace = { in_progress: { per_item: '400ms', concurrency: 3 } }
  const world = await batchWorld({ 'batch.cancel_in_flight': 'finish', 'batch.pace': pace })
  const { id } = await createBatch(world, { items: 10 })
  world.advance('2500ms')
  const cancelling = (await cancel(world, id)).body
  expect(counts(cancelling)).toEqual({ total: 10, succeeded: 3, processing: 7 })
  world.advance('300ms')
  expect(counts(await retrieve(world, id))).toEqual({ total: 10, succeeded: 6, processing: 4 })
  world.advance('600ms')
  expect(counts(await retrieve(world, id))).toEqual({ total: 10, succeeded: 6, processing: 4 })
  world.advance('100ms')
  expect(counts(await retrieve(world, id))).toEqual({ total: 10, succeeded: 6, canceled: 4 })
})
