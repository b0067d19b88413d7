import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f7 } from './f7-pipelining.ts'

test('F7 pipelined requests take little memory, whether anybody reads their responses or not', async () => {
  expect(broken(await f7.run('short', () => {}))).toEqual([])
})
