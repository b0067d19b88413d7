import { expect, test } from 'vitest'
import { retimed } from './retime.ts'

const ONCE = { nth: 1 }
const EACH_BATCH = { nth: 2, by: 'resource_id' } as const

test.for([
  [{}, {}, false, {}],
  [ONCE, {}, false, ONCE],
  [ONCE, { every: 2 }, false, { every: 2 }],
  [ONCE, { nth: 3, probability: 0.5 }, false, { nth: 3, probability: 0.5 }],
  [EACH_BATCH, { first: 2 }, false, { first: 2, by: 'resource_id' }],
  [EACH_BATCH, { by: ['api_key'] }, false, { nth: 2, by: ['api_key'] }],
  [EACH_BATCH, { nth: 1, by: 'tag' }, false, { nth: 1, by: 'tag' }],
  [ONCE, {}, true, {}],
  [ONCE, { by: 'tag' }, true, { by: 'tag' }],
  [ONCE, { nth: 1 }, true, ONCE],
  [EACH_BATCH, {}, true, EACH_BATCH],
  [{ nth: 1, until: { calls: 9 } }, { every: 2 }, false, { every: 2, until: { calls: 9 } }],
] as const)('%j with %j (limited: %j) is %j', ([own, wanted, isLimited, expected]) => {
  expect(retimed(own, wanted, isLimited)).toEqual(expected)
})
