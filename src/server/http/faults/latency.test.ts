import { expect, test } from 'vitest'
import { latencyOf } from './latency.ts'

test.for([
  ['300ms', [300, 300]],
  ['0ms', [0, 0]],
  ['1.5s', [1_500, 1_500]],
  ['300-800ms', [300, 800]],
  ['1-2s', [1_000, 2_000]],
  ['60s', [60_000, 60_000]],
  ['61s', undefined],
  ['800-300ms', undefined],
  ['300', undefined],
  ['-5ms', undefined],
  ['1m', undefined],
] as const)('%s is the latency %j', ([text, latency]) => {
  expect(latencyOf(text)).toEqual(latency)
})
