import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f2 } from './f2-wire.ts'

// A machine that is busy with something else may take ten times as long.
test('F2 malformed bytes neither end the emulator nor keep it from answering', {
  timeout: 300_000,
}, async () => {
  const told: string[] = []
  const figures = await f2.run('short', (line) => told.push(line))
  expect(broken(figures), told.join('\n')).toEqual([])
})
