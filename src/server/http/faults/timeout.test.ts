import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { ExchangeTimeout } from './timeout.ts'

/** The part of a socket that a timeout uses. */
class Line extends EventEmitter {
  destroyed = false
  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

function timeout(limit?: number) {
  const line = new Line()
  const controller = new AbortController()
  const watch = new ExchangeTimeout(line as unknown as Socket, [controller.signal], limit)
  return { line, controller, watch }
}

const HOUR = 3_600_000

test('a timeout for a closed connection or an aborted signal is over from the start', async () => {
  const line = new Line()
  line.destroyed = true
  expect(new ExchangeTimeout(line as unknown as Socket, []).over).toBe('left')
  const open = new Line()
  expect(new ExchangeTimeout(open as unknown as Socket, [AbortSignal.abort()]).over).toBe('released')
  expect(open.destroyed).toBe(true)
})

test('until rejects when its promise rejects', async () => {
  const { watch } = timeout()
  await expect(watch.until(Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await watch.until(undefined)).toBe(true)
})

test('end leaves no listener', () => {
  const { line, watch, controller } = timeout(HOUR)
  watch.end()
  expect(line.listenerCount('close')).toBe(0)
  controller.abort()
  expect(line.destroyed).toBe(false)
})
