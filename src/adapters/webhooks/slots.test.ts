import { expect, test } from 'vitest'
import { Slots } from './sender.ts'

test('a returned slot goes to the sender that waited longest, and each sender is woken once', () => {
  const slots = new Slots(2)
  const woken: string[] = []
  const [a, b] = [() => void woken.push('a'), () => void woken.push('b')]
  expect([slots.take(a), slots.take(a), slots.take(a), slots.take(b), slots.take(a)]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
  slots.give()
  expect(woken).toEqual(['a'])
  expect(slots.take(a)).toBe(true)
  slots.give()
  slots.give()
  expect(woken).toEqual(['a', 'b'])
})

test('an unused slot is passed on, and a sender that no longer waits is not woken', () => {
  const slots = new Slots(1)
  const woken: string[] = []
  const [a, b, c] = ['a', 'b', 'c'].map((name) => () => void woken.push(name)) as [
    () => void,
    () => void,
    () => void,
  ]
  slots.take(a)
  for (const wake of [a, b, c]) slots.take(wake)
  slots.give()
  slots.forget(b)
  expect(woken).toEqual(['a', 'c'])
  slots.pass()
  expect(woken).toEqual(['a', 'c'])
})
