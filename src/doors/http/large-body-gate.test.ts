import { expect, test } from 'vitest'
import { Gate } from './large-body-gate.ts'

/** Lets everything run that is ready to run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('the place goes to one at a time, in the order of asking', async () => {
  const gate = new Gate()
  const order: string[] = []
  const first = await gate.acquire()
  const enter = async (name: string) => {
    const release = await gate.acquire()
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
  const first = await gate.acquire()
  const second = gate.acquire()
  first()
  await second
  first()
  let third = false
  void gate.acquire().then(() => {
    third = true
  })
  await settled()
  expect(third).toBe(false)
})

test('a free place is free again after its release', async () => {
  const gate = new Gate()
  ;(await gate.acquire())()
  ;(await gate.acquire())()
  await expect(gate.acquire()).resolves.toBeTypeOf('function')
})
