import { expect, test } from 'vitest'
import { Gate, type LargeBody } from './large-body-gate.ts'

const holder = (): LargeBody => ({ received: () => 0, onStalled: () => {} })

/** Resolves in the next turn of the event loop, after all promises that are ready. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('one body has the place at a time, in the order of the calls', async () => {
  const gate = new Gate()
  const order: string[] = []
  const first = await gate.acquire(holder())
  const enter = async (name: string) => {
    const release = await gate.acquire(holder())
    order.push(name)
    await settled()
    order.push(`${name} out`)
    release()
  }
  const others = [enter('b'), enter('c'), enter('d')]
  await settled()
  expect(order).toEqual([])
  first()
  await Promise.all(others)
  expect(order).toEqual(['b', 'b out', 'c', 'c out', 'd', 'd out'])
})

test('a second release does not free the place of the next body', async () => {
  const gate = new Gate()
  const first = await gate.acquire(holder())
  const second = gate.acquire(holder())
  first()
  await second
  first()
  let third = false
  void gate.acquire(holder()).then(() => {
    third = true
  })
  await settled()
  expect(third).toBe(false)
})

test('the place is free again after a release', async () => {
  const gate = new Gate()
  ;(await gate.acquire(holder()))()
  ;(await gate.acquire(holder()))()
  await expect(gate.acquire(holder())).resolves.toBeTypeOf('function')
})

/** A gate whose timers are run by the test, and the names of the bodies that have stalled. */
function timed() {
  const timers = new Set<() => void>()
  const stalled: string[] = []
  const gate = new Gate((_ms, call) => {
    timers.add(call)
    return () => void timers.delete(call)
  })
  const elapse = async () => {
    for (const call of [...timers]) {
      timers.delete(call)
      call()
    }
    await settled()
  }
  const holder = (name: string, received = () => 0): LargeBody => ({
    received,
    onStalled: () => void stalled.push(name),
  })
  return { gate, timers, stalled, elapse, holder }
}

test('a body that receives no bytes loses the place when another waits, and keeps it otherwise', async () => {
  const { gate, timers, stalled, elapse, holder } = timed()
  const release = await gate.acquire(holder('a'))
  expect(timers.size).toBe(0)
  const second = gate.acquire(holder('b'))
  const third = gate.acquire(holder('c'))
  await elapse()
  await second
  expect(stalled).toEqual(['a'])
  // The release of a body that has lost the place has no effect.
  release()
  await elapse()
  const last = await third
  expect(stalled).toEqual(['a', 'b'])
  await elapse()
  expect(timers.size).toBe(0)
  last()
  await gate.acquire(holder('d'))
  expect(stalled).toEqual(['a', 'b'])
})

test('a body that receives enough bytes keeps the place; a byte now and then is not enough', async () => {
  const { gate, stalled, elapse, holder } = timed()
  let bytes = 0
  await gate.acquire(holder('a', () => bytes))
  const second = gate.acquire(holder('b'))
  for (let n = 0; n < 10; n++) {
    bytes += 64 * 1024
    await elapse()
  }
  expect(stalled).toEqual([])
  bytes += 1
  await elapse()
  await second
  expect(stalled).toEqual(['a'])
})

test('bytes that are read right after the timer count, since the process may have been busy before', async () => {
  const { gate, timers, stalled, holder } = timed()
  let bytes = 0
  await gate.acquire(holder('a', () => bytes))
  void gate.acquire(holder('b'))
  for (const call of timers) call()
  bytes += 64 * 1024
  await settled()
  expect(stalled).toEqual([])
})
