import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { forAll } from '../../test/support/for-all.ts'
import { Settings } from '../core/assumptions.ts'
import { zodIssues } from '../core/zod-issues.ts'
import { opaqueList, opaqueRecord } from './uncontracted.ts'

const schema = opaqueRecord(z.strictObject({ teamspace_id: z.string(), note: z.string().default('none') }))

const asking = { note: () => {}, assume: () => 'newest' as never, settings: new Settings(), seed: 1 }

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
