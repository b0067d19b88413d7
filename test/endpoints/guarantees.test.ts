import { expect, test } from 'vitest'
import { GUARANTEES, testGuarantees } from './guarantees.ts'

test('the table has at least 40 guarantees', () => {
  expect(GUARANTEES.length).toBeGreaterThanOrEqual(40)
})

testGuarantees(['socket'])
