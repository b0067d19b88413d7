import { expect, test } from 'vitest'
import { lifecycle } from './lifecycle.ts'
import { Chance, chanceOf, hash, objectId, uuid } from './random.ts'
import { seal, sealMembers } from './secrets.ts'

const hatch = lifecycle([
  { from: 'open', on: 'shut', to: 'closed', because: 'spec' },
  { from: 'closed', on: 'lock', to: 'locked', because: 'U054' },
  { from: 'closed', on: 'shut', to: 'closed', because: 'spec' },
])

test('a lifecycle follows its arrows, and refuses any other move with the possible actions', () => {
  expect(hatch.move('open', 'shut')).toBe('closed')
  expect(hatch.next('open', 'lock')).toBeUndefined()
  expect(() => hatch.move('open', 'lock')).toThrow(
    '"lock" is not possible in the state "open"; possible from there: shut.',
  )
  expect(() => hatch.move('locked', 'shut')).toThrow('it is terminal')
})

test('a state is terminal when no arrow leads out of it', () => {
  const terminal = ['open', 'closed', 'locked'].filter((state) => hatch.terminal(state as 'open'))
  expect(terminal).toEqual(['locked'])
})

test('ids are 24 hexadecimal characters that sort in order of creation', { tags: ['R012'] }, () => {
  const ids = Array.from({ length: 1_000 }, (_, n) => objectId(1, n + 1))
  expect(new Set(ids).size).toBe(1_000)
  expect([...ids].sort()).toEqual(ids)
  expect(ids.every((id) => /^[0-9a-f]{24}$/.test(id))).toBe(true)
})

test('UUIDs have the form of version 4 and differ', () => {
  const uuids = Array.from({ length: 1_000 }, (_, n) => uuid(1, n))
  expect(new Set(uuids).size).toBe(1_000)
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  expect(uuids.every((id) => form.test(id))).toBe(true)
})

test('a draw depends only on the seed and its labels', { tags: ['R296'] }, () => {
  expect(hash(1, 'a', 2)).toBe(hash(1, 'a', 2))
  const others = [hash(2, 'a', 2), hash(1, 'b', 2), hash(1, 'a', 3), hash(1, 'a')]
  expect(new Set([hash(1, 'a', 2), ...others]).size).toBe(5)
  expect(new Chance(1, 'x').next()).toBe(new Chance(1, 'x').next())
})

test('draws are spread evenly', () => {
  const chance = new Chance(1, 'spread')
  const drawn = Array.from({ length: 10_000 }, () => chance.int(0, 9))
  for (let number = 0; number <= 9; number++) {
    const share = drawn.filter((each) => each === number).length
    expect(Math.abs(share - 1_000), `${number}`).toBeLessThan(150)
  }
  const below = drawn.filter((_, n) => chanceOf(1, 'rule', n) < 0.3).length
  expect(Math.abs(below - 3_000)).toBeLessThan(200)
})

test('a secret is sealed once, is not readable, and only in named fields', { tags: ['R049'] }, () => {
  const sealed = seal('live_owner')
  expect(sealed).not.toContain('owner')
  expect(seal(sealed)).toBe(sealed)
  const sealedFields = sealMembers({ token: 't', name: 'n', code: null }, ['token', 'code'])
  expect(sealedFields).toEqual({ token: seal('t'), name: 'n', code: null })
})
