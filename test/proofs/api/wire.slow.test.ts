import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { f2 } from './wire.ts'

// A busy machine may need ten times as long.
test('F2 the emulator survives malformed bytes and continues to respond', {
  timeout: 300_000,
}, async () => {
  const told: string[] = []
  const figures = await f2.run('short', (line) => told.push(line))
  expect(broken(figures), told.join('\n')).toEqual([])
})
