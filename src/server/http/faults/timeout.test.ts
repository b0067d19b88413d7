import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { ExchangeTimeout } from './timeout.ts'

class Line extends EventEmitter {
  destroyed = false
  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

const timeoutOf = (line: Line, signal: AbortSignal, limit?: number) =>
  new ExchangeTimeout(line as unknown as Socket, [signal], limit)

const HOUR = 3_600_000

test('a timeout for a closed connection or an aborted signal is over from the start', () => {
  const [closed, open] = [Object.assign(new Line(), { destroyed: true }), new Line()]
  expect(timeoutOf(closed, new AbortController().signal).over).toBe('left')
  expect(timeoutOf(open, AbortSignal.abort()).over).toBe('released')
  expect(open.destroyed).toBe(true)
})

test('until rejects when its promise rejects', async () => {
  const watch = timeoutOf(new Line(), new AbortController().signal)
  await expect(watch.until(Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await watch.until(undefined)).toBe(true)
})

test('end leaves no listener', () => {
  const [line, controller] = [new Line(), new AbortController()]
  timeoutOf(line, controller.signal, HOUR).end()
  expect(line.listenerCount('close')).toBe(0)
  controller.abort()
  expect(line.destroyed).toBe(false)
})
