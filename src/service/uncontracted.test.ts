import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { forAll } from '../../test/support/for-all.ts'
import { Settings } from '../core/assumptions.ts'
import { zodIssues } from '../core/zod-issues.ts'
import { opaqueList, opaqueNew, opaqueRecord, opaqueUpdate } from './uncontracted.ts'

const schema = opaqueRecord(z.strictObject({ teamspace_id: z.string(), note: z.string().default('none') }))

/** Any fields, including those that JavaScript treats specially. */
const members = fc
  .array(
    fc.tuple(
      fc.constantFrom('__proto__', 'constructor', 'toString', '', 'a', 'id', '_emulator'),
      fc.jsonValue(),
    ),
  )
  .map((pairs) => JSON.parse(JSON.stringify(Object.fromEntries(pairs))))

/** Own fields as pairs, so that `__proto__` is compared like any other. */
const pairsOf = (record: object) =>
  Object.entries(record).filter(([key]) => key !== 'id' && key !== '_emulator')

const asking = { note: () => {}, assume: () => 'newest' as never, settings: new Settings(), seed: 1 }

test('any fields of a record are kept unchanged', { tags: ['R223'] }, () =>
  forAll(members, (given) => {
    const made = opaqueNew(given, 'r1', { teamspace_id: 't', note: 'n' })
    const accepted = schema.parse(JSON.parse(JSON.stringify(made)))
    expect(pairsOf(accepted)).toEqual(pairsOf(given))
    expect([accepted.id, accepted._emulator]).toEqual(['r1', { teamspace_id: 't', note: 'n' }])
  }),
)

test('an update keeps the fields that it does not name, the id and the facts', { tags: ['R223'] }, () =>
  forAll(members, members, (first, second) => {
    const facts = { teamspace_id: 't', note: 'n' }
    const updated = opaqueUpdate(opaqueNew(first, 'r1', facts), second)
    expect([updated.id, updated._emulator]).toEqual(['r1', facts])
    expect(new Map(pairsOf(updated))).toEqual(new Map([...pairsOf(first), ...pairsOf(second)]))
  }),
)

const facts = { teamspace_id: 't' }

test.for<[title: string, raw: unknown, issues: readonly string[]]>([
  ['no object', [], ['/0 must be an object']],
  ['no id and no facts', {}, ['/0/id is required', '/0/_emulator is required']],
  ['an empty id', { id: '', _emulator: { teamspace_id: 't' } }, ['/0/id must not be empty']],
  ['a fact that is missing', { id: 'r', _emulator: {} }, ['/0/_emulator/teamspace_id is required']],
  ['an unknown fact', { id: 'r', _emulator: { ...facts, x: 1 } }, ['/0/_emulator/x is not a known field']],
])('a record with %s is refused where it is wrong', ([, raw, issues]) => {
  const result = z.array(schema).safeParse([raw])
  const found = result.success ? [] : zodIssues(result.error, '')
  expect(found.map(({ pointer, detail }) => `${pointer} ${detail}`)).toEqual(issues)
})

test('a list has the order of lists for any created_at of its records', { tags: ['R223'] }, () => {
  const created = [null, 1, 'soon', '2026-01-01T00:00:00Z', '2026-01-02', '2026-01-01T05:00:00.000+09:00']
  const records = created.map((created_at, n) => ({ id: `r${n}`, created_at }))
  forAll(fc.shuffledSubarray(records, { minLength: records.length }), (shuffled) => {
    const { data } = opaqueList(shuffled, asking) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(['r4', 'r3', 'r5', 'r2', 'r1', 'r0'])
  })
})
