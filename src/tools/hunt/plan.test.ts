import { expect, test } from 'vitest'
import { workspaceService } from '../../emulator/service.ts'
import { pairs, singles, smaller } from './plan.ts'

const met = (...operations: string[]) => ({
  operations: new Set(operations),
  keyed: new Set<string>(),
  hasWebhooks: false,
})
test('a fault of any request is tried at each operation that was met, first once, then without an end', () => {
  const all = singles(workspaceService, met('pages.create', 'data-views.list'))
  const about = all.filter(({ name }) => name.includes('/server-error'))
  const rule = (operation: string, more: object) => ({
    name: `${operation}/server-error${'times' in more ? '' : '/lasting'}`,
    rules: [{ preset: 'server-error', match: { operation }, ...more }],
  })
  expect(about).toEqual([
    rule('pages.create', { times: 1 }),
    rule('data-views.list', { times: 1 }),
    rule('pages.create', {}),
    rule('data-views.list', {}),
  ])
})

test('the faults that do most harm come first, at each operation: of those about writes only at writes', () => {
  const create = 'batch-predictions.create'
  const found = { ...met('data-views.list', create), keyed: new Set([create]) }
  const all = singles(workspaceService, found)
  const first = all.slice(0, 10).map(({ name }) => name)
  expect(first).toEqual([
    'data-views.list/tomorrow',
    `${create}/tomorrow`,
    `${create}/lost-response-after-commit`,
    `${create}/ambiguous-gateway-5xx`,
    'data-views.list/rst-before-headers',
    `${create}/rst-before-headers`,
    'data-views.list/rate-limited',
    `${create}/rate-limited`,
    'data-views.list/unavailable-with-retry-after',
    `${create}/unavailable-with-retry-after`,
  ])
  expect(all.filter(({ isDangerous }) => isDangerous).map(({ name }) => name)).toEqual(first)
  const names = all.map(({ name }) => name)
  expect(names).toContain('data-views.list/ambiguous-gateway-5xx')
  expect(new Set(names).size).toBe(names.length)
  const ofResults = singles(workspaceService, met('batch-predictions.results'))
  expect(ofResults.find(({ name }) => name.includes('/ndjson-abort'))?.isDangerous).toBe(true)
})

test('a fault is left out without what it is about: its operation, an idempotency key or a webhook', () => {
  const create = 'batch-predictions.create'
  const isTried = (name: string, found: Parameters<typeof singles>[1]) =>
    singles(workspaceService, found).some((each) => each.name === name)
  const ofList = 'teamspace-users.list/page-empty-has-more'
  const ofKey = `${create}/lost-response-after-commit`
  const keyed = { ...met(create), keyed: new Set([create]) }
  const ofWebhook = 'webhook/webhook-duplicate'
  const withWebhooks = { ...met(create), hasWebhooks: true }
  const without = [isTried(ofList, met(create)), isTried(ofKey, met(create)), isTried(ofWebhook, met(create))]
  expect(without).toEqual([false, false, false])
  expect(isTried(ofList, met('teamspace-users.list'))).toBe(true)
  expect([isTried(ofKey, keyed), isTried(ofWebhook, withWebhooks)]).toEqual([true, true])
})

const [a, b, c] = ['a', 'b', 'c/lasting'].map((name) => ({ name, rules: [{ id: name, times: 2 }] }))
if (a === undefined || b === undefined || c === undefined) throw new Error('there are three')

test('sequences have each two faults in both orders, and the same seed has the same order', () => {
  const names = (seed: number) => pairs([a, b, c], seed).map(({ name }) => name)
  expect(names(1).toSorted().join()).toBe('a+b,a+c/lasting,b+a,b+c/lasting,c/lasting+a,c/lasting+b')
  expect(names(1)).toEqual(names(1))
  const orders = new Set(Array.from({ length: 20 }, (_, seed) => names(seed).join()))
  expect(orders.size).toBeGreaterThan(5)
})

test('a sequence is shrunk to its parts, and a fault without an end to one that happens once', () => {
  const [sequence] = pairs([a, c], 1).filter(({ name }) => name === 'a+c/lasting')
  if (sequence === undefined) throw new Error('there is one')
  expect(smaller(sequence).map(({ name }) => name)).toEqual(['a', 'c', 'c/lasting', 'a+c'])
  expect(smaller(c)).toEqual([{ name: 'c', rules: [{ id: 'c/lasting', times: 1 }] }])
  expect(smaller(a)).toEqual([])
})
