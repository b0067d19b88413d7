import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { dismiss, toast, toasts } from './toasts.ts'

const shown = () => toasts.value.map(({ text }) => text)

beforeEach(() => {
  vi.useFakeTimers()
  toasts.value = []
  onTestFinished(() => void vi.useRealTimers())
})

test('a message leaves after six seconds, and an error after twenty', () => {
  toast('ok', 'saved')
  toast('error', 'refused')
  vi.advanceTimersByTime(6_000)
  expect(shown()).toEqual(['refused'])
  vi.advanceTimersByTime(14_000)
  expect(shown()).toEqual([])
})

test('at most three messages are shown, and each can be closed', () => {
  for (const text of ['one', 'two', 'three', 'four']) toast('info', text)
  expect(shown()).toEqual(['two', 'three', 'four'])
  dismiss(toasts.value[0]?.id ?? 0)
  expect(shown()).toEqual(['three', 'four'])
})
