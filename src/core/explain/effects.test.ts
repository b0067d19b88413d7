import { expect, test } from 'vitest'
import type { LogEntry } from '../log/request-log.ts'
import type { Change, Row } from '../state/commit.ts'
import { effectsOf, inShort, jsonPatch } from './effects.ts'

const row = (id: string, members: object = {}) => ({ id, ...members }) as Row
const change = (table: string, id: string, before?: object, after?: object): Change => ({
  table,
  id,
  before: before && row(id, before),
  after: after && row(id, after),
})
const effects = (changes: readonly Change[]) =>
  effectsOf({ commit: { revision: 1, at: '', changes } } as unknown as LogEntry)
const event = (due_at: string) => ({ kind: 'ring', ref: 'bells/b', due_at, seq: 1, description: 'Rings.' })

test('moved events are listed with both instants, cancelled ones apart', () => {
  const { scheduled, unscheduled } = effects([
    change('$schedule', 'moved', event('2026-01-01'), event('2026-01-03')),
    change('$schedule', 'off', event('2026-01-04')),
  ])
  expect(scheduled).toMatchObject([{ at: '2026-01-03', instead_of: '2026-01-01' }])
  expect(unscheduled).toMatchObject([{ kind: 'ring', ref: 'bells/b', at: '2026-01-04' }])
})

test('an enqueued webhook is named with its faults, and a later change of it is listed like any other', () => {
  const delivery = { type: 'page.made', url: 'http://127.0.0.1:9/', ref: 'pages/a', body: { large: true } }
  const told = effects([
    change('webhook_deliveries', 'w1', undefined, { ...delivery, faults: { rules: ['late'] } }),
    change('webhook_deliveries', 'w2', { status: 'failed' }, { status: 'pending' }),
  ])
  const { type, url } = delivery
  expect(told.deliveries).toEqual([{ id: 'w1', type, url, about: 'pages/a', faults: ['late'] }])
  expect(told.changes.map(({ ref }) => ref)).toEqual(['webhook_deliveries/w2'])
})

test('in short, up to three records of a kind are named', () => {
  const made = (n: number) => Array.from({ length: n }, (_, i) => change('pages', `p${i}`, undefined, {}))
  expect(inShort(effects(made(1)))).toBe('it created pages/p0')
  const three = 'it created pages/p0, pages/p1, pages/p2 and changed x/y'
  expect(inShort(effects([...made(3), change('x', 'y', {}, { n: 1 })]))).toBe(three)
  const scheduled = change('$schedule', 's', undefined, event('2026'))
  const many = [...made(4), scheduled, change('webhook_deliveries', 'w', undefined, { faults: null })]
  expect(inShort(effects(many))).toBe('it created 4 records, scheduled 1 event and enqueued 1 webhook')
})

const same = { id: 'r', name: 'x' }
const before = { id: 'r', 'a/b': 1, inner: { gone: 1, kept: 2 } }

test.for<[what: string, before: object | undefined, after: object | undefined, patch: object[]]>([
  ['a new record is added as a whole', undefined, same, [{ op: 'add', path: '', value: same }]],
  ['a deleted record is removed as a whole', same, undefined, [{ op: 'remove', path: '' }]],
  ['an equal record does not change', same, { ...same }, []],
  ['a field is replaced', before, { ...before, 'a/b': 2 }, [{ op: 'replace', path: '/a~1b', value: 2 }]],
  ['a field is added', before, { ...before, 'm~n': null }, [{ op: 'add', path: '/m~0n', value: null }]],
  ['a field is removed', before, { ...before, inner: { kept: 2 } }, [{ op: 'remove', path: '/inner/gone' }]],
])('%s', ([, before, after, patch]) => {
  expect(jsonPatch(before as Row, after as Row)).toEqual(patch)
})
