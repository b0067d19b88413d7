import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f7 } from './f7-pipelining.ts'

test('F7 pipelined requests need little memory, whether their responses are read or not', async () => {
  expect(broken(await f7.run('short', () => {}))).toEqual([])
})
