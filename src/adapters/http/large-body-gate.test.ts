import { expect, test } from 'vitest'
import { Gate, type LargeBody } from './large-body-gate.ts'

const somebody = (): LargeBody => ({ received: () => 0, onStalled: () => {} })

/** Lets everything run that is ready to run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('the place goes to one at a time, in the order of asking', async () => {
  const gate = new Gate()
  const order: string[] = []
  const first = await gate.acquire(somebody())
  const enter = async (name: string) => {
    const release = await gate.acquire(somebody())
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

test('a second release does not free the place of the next one', async () => {
  const gate = new Gate()
  const first = await gate.acquire(somebody())
  const second = gate.acquire(somebody())
  first()
  await second
  first()
  let third = false
  void gate.acquire(somebody()).then(() => {
    third = true
  })
  await settled()
  expect(third).toBe(false)
})

test('a free place is free again after its release', async () => {
  const gate = new Gate()
  ;(await gate.acquire(somebody()))()
  ;(await gate.acquire(somebody()))()
  await expect(gate.acquire(somebody())).resolves.toBeTypeOf('function')
})

/** A gate whose timers run when the test says so, and the names of those that have stalled. */
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

test('who receives nothing loses the place to anyone who waits, and keeps it while nobody does', async () => {
  const { gate, timers, stalled, elapse, holder } = timed()
  const release = await gate.acquire(holder('a'))
  expect(timers.size).toBe(0)
  const second = gate.acquire(holder('b'))
  const third = gate.acquire(holder('c'))
  await elapse()
  await second
  expect(stalled).toEqual(['a'])
  // What it still holds is nothing any more.
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

test('who receives enough keeps the place, a byte now and then is not enough', async () => {
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

test('bytes that were read right behind the timer count, since this process may have been busy until then', async () => {
  const { gate, timers, stalled, holder } = timed()
  let bytes = 0
  await gate.acquire(holder('a', () => bytes))
  void gate.acquire(holder('b'))
  for (const call of timers) call()
  bytes += 64 * 1024
  await settled()
  expect(stalled).toEqual([])
})
