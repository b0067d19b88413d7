import { expect, test } from 'vitest'
import {
  type CoverageReport,
  type CoveredPoint,
  coverageOf,
  mergedPoints,
  percentOf,
} from '../../src/server/control/coverage/report.ts'

import { aBatch, batchEmulator, createBatch, linesOf, someItems } from '../support/batches.ts'
import { testEmulator } from '../support/emulator.ts'

/** An emulator that counts coverage, and the points that were met since the last look. */
async function covered() {
  const emulator = await batchEmulator({}, { countCoverage: true })
  let before: Record<string, string> = {}
  const met = async () => {
    const { data } = (await emulator.control('GET', '/coverage')).body as CoverageReport
    const all = Object.fromEntries(data.flatMap(({ id, met }) => (met === null ? [] : [[id, met]])))
    const news = Object.fromEntries(Object.entries(all).filter(([id, how]) => before[id] !== how))
    before = all
    return news
  }
  return { emulator, met }
}

test('nothing is met before the first request, and ten gaps are named', async () => {
  const { emulator } = await covered()
  const { body } = await emulator.control('GET', '/coverage')
  expect(body).toMatchObject({ object: 'list', met: 0, met_by_faults: 0 })
  expect(body.gaps).toHaveLength(10)
  expect(body.gaps).toEqual(body.data.slice(0, 10))
  expect(body.total).toBe(body.data.length)
})

test('without the option coverage is refused, with the fix', async () => {
  const emulator = await testEmulator()
  const { status, body } = await emulator.control('GET', '/coverage')
  expect([status, body.message]).toEqual([409, expect.stringContaining('Coverage is not counted.')])
  expect(body.mitigation).toContain('--count-coverage')
})

test('a call meets its status, and the values of enumerations in its response', async () => {
  const { emulator, met } = await covered()
  await emulator.post('/pages', { name: 'Plan' })
  expect(await met()).toEqual({
    'status pages.create 200': 'service',
    'enum Page/scope "teamspace"': 'service',
  })
})

test('a refused call meets its status and the code of its error', async () => {
  const { emulator, met } = await covered()
  await emulator.post('/pages', { name: 5 })
  await emulator.post('/pages', { name: 'Plan' }, { key: 'none' })
  expect(await met()).toEqual({
    'status pages.create 400': 'service',
    'error validation_failed': 'service',
    'status pages.create 401': 'service',
    'error unauthorized': 'service',
  })
})

test('a value at a bound and one step beyond it are two points', async () => {
  const { emulator, met } = await covered()
  await emulator.get('/data-views?limit=100')
  expect(await met()).toMatchObject({ 'bound data-views.list query limit maximum: 100': 'service' })
  await emulator.get('/data-views?limit=101')
  expect(await met()).toMatchObject({ 'bound data-views.list query limit maximum: 101': 'service' })
  await emulator.get('/data-views?limit=102')
  expect(await met()).toEqual({})
})

test('bounds of a large body count, although the log does not keep it', async () => {
  const { emulator, met } = await covered()
  await emulator.post('/batch-predictions', aBatch({ items: someItems(5_000) }))
  await emulator.post('/batch-predictions', aBatch({ items: someItems(5_001) }))
  expect(await met()).toMatchObject({
    'bound batch-predictions.create body/items maxItems: 5000': 'service',
    'bound batch-predictions.create body/items maxItems: 5001': 'service',
  })
})

test('a batch meets its transitions, the lines of its results, and the types of its webhooks', async () => {
  const { emulator, met } = await covered()
  await emulator.control('POST', '/webhooks', { inbox: true })
  const { id } = await createBatch(emulator)
  await emulator.control('POST', '/clock/advance', { until: { batch: id } })
  await linesOf(emulator, id)
  expect(await met()).toMatchObject({
    'transition batch_predictions validating -> in_progress': 'service',
    'transition batch_predictions finalizing -> completed': 'service',
    'event batch_prediction.completed': 'service',
    'enum BatchPredictionResult/status "succeeded"': 'service',
    'status batch-predictions.results 200': 'service',
  })
})

test('a response of a fault counts, and is marked until the service gives it, too', async () => {
  const { emulator, met } = await covered()
  await emulator.control('POST', '/faults', { preset: 'rate-limited', match: { operation: 'pages.create' } })
  await emulator.post('/pages', { name: 'Plan' })
  expect(await met()).toEqual({ 'status pages.create 429': 'fault', 'error rate_limit_exceeded': 'fault' })
  await emulator.control('DELETE', '/faults')
  await emulator.control('PUT', '/limits/pages.create', { limit: 1, window_s: 60 })
  await emulator.post('/pages', { name: 'Plan' })
  await emulator.post('/pages', { name: 'Plan' })
  expect(await met()).toMatchObject({
    'status pages.create 429': 'service',
    'error rate_limit_exceeded': 'service',
  })
})

test('all sandboxes count, also one that was deleted', async () => {
  const { emulator, met } = await covered()
  await emulator.request('GET', '/data-views', { headers: { 'X-Emulator-Sandbox': 'other' } })
  await emulator.control('DELETE', '/sandboxes/other')
  expect(await met()).toMatchObject({ 'status data-views.list 200': 'service' })
})

const point = (id: string, met: CoveredPoint['met']): CoveredPoint => ({ id, kind: 'status', met, how: id })

test('a point of two reports is met if one of them has met it, best without a fault', () => {
  const merged = mergedPoints(
    [point('a', null), point('b', 'fault'), point('c', 'fault')],
    [point('a', 'fault'), point('b', 'service'), point('d', null)],
  )
  expect(merged).toEqual([point('a', 'fault'), point('b', 'service'), point('c', 'fault'), point('d', null)])
})

test('the percentage is rounded down, so that only whole coverage is 100', () => {
  expect(percentOf(coverageOf([point('a', 'service'), point('b', null), point('c', 'fault')]))).toBe(66.6)
  expect(percentOf({ met: 9_999, total: 10_000 })).toBe(99.9)
  expect(percentOf({ met: 3, total: 3 })).toBe(100)
  expect(percentOf({ met: 0, total: 0 })).toBe(100)
})
