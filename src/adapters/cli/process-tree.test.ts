import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { descendantsOf, signalTo, stillRunning } from './exec-child.ts'

test('grandchildren of a process belong to its tree until they end', async () => {
  // A name with parentheses and spaces is hard to parse in /proc.
  const script = "require('child_process').spawn('sleep', ['60']).on('spawn', () => console.log('up'))"
  const child = spawn(process.execPath, ['--title=a ) b', '-e', `setTimeout(() => {}, 60000);${script}`])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const above = descendantsOf(process.pid)
  const below = descendantsOf(child.pid ?? 0)
  expect(above.map(({ pid }) => pid)).toContain(child.pid)
  expect(below).toHaveLength(1)
  expect(above).toContainEqual(below[0])
  expect(stillRunning(below)).toEqual(below)
  expect(stillRunning(below.map(({ pid }) => ({ pid, startedAt: 'at another time' })))).toEqual([])
  for (const { pid } of below) signalTo(pid, 'SIGKILL')
  while (stillRunning(below).length > 0) await new Promise(setImmediate)
  expect(descendantsOf(child.pid ?? 0)).toEqual([])
})

test('a signal to a process that has ended does nothing', async () => {
  const child = spawn('true')
  await once(child, 'exit')
  expect(() => signalTo(child.pid ?? 0, 'SIGTERM')).not.toThrow()
})
