import { expect, test } from 'vitest'
import { guardJson, JSON_BOUNDS } from './json-body.ts'

const MIB = 1024 * 1024

test('a valid 100 MiB body passes the guard', { tags: ['R270'] }, () => {
  const body = Buffer.alloc(100 * MIB, 'x')
  body.write('["')
  body.write('","', 50 * MIB)
  body.write('"]', 100 * MIB - 2)
  expect(guardJson(body, { ...JSON_BOUNDS, maxDepth: 1, maxTokens: 6 })).toBeUndefined()
})
