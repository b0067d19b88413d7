import { expect, test } from 'vitest'
import { broken, type Proof } from '../proof.ts'
import { d1 } from './acknowledged-writes.ts'
import { d8 } from './one-writer.ts'

/** The figures of a short run that do not hold, and its output. */
async function wrongIn(proof: Proof): Promise<readonly string[]> {
  const said: string[] = []
  const wrong = broken(await proof.run('short', (line) => said.push(line)))
  return wrong.length === 0 ? [] : [...wrong, ...said]
}

test('D1 no acknowledged write is lost, duplicated or unreported when the process is killed while writing', {
  tags: ['R280', 'R233'],
}, async () => {
  expect(await wrongIn(d1)).toEqual([])
})

test('D8 only one of several isolated processes writes, and one that lost the folder acknowledges nothing', async () => {
  expect(await wrongIn(d8)).toEqual([])
})
