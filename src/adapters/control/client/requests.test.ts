import { expect, test } from 'vitest'
import { callControlOver } from './ask.ts'
import { requestsOver } from './requests.ts'
import type { Transport } from './transport.ts'

test('a long wait makes several shorter calls and reports the whole timeout', async () => {
  const asked: unknown[] = []
  const { wait } = requestsOver(callControlOver(timingOut(asked)))
  const check = await wait({ method: 'GET' }, { timeoutMs: 300_000, count: 2 })
  expect(asked).toEqual([120_000, 120_000, 60_000])
  expect(check).toMatchObject({
    passed: false,
    description: 'Not enough matching requests came within 300000 ms.',
  })
})

test('a long wait ends with the call during which the requests came', async () => {
  const asked: unknown[] = []
  const { wait } = requestsOver(callControlOver(timingOut(asked, 2)))
  expect(await wait({ method: 'GET' }, { timeoutMs: 600_000 })).toMatchObject({ passed: true })
  expect(asked).toEqual([120_000, 120_000])
})

test('a wait over the maximum is sent unchanged, so that the emulator refuses it', async () => {
  const asked: unknown[] = []
  const { wait } = requestsOver(callControlOver(timingOut(asked)))
  await wait({ method: 'GET' }, { timeoutMs: 600_001 })
  await wait({ method: 'GET' })
  expect(asked).toEqual([600_001, undefined])
})

/** Responds with a timeout until the call with the number `passes`. */
function timingOut(asked: unknown[], passes = Infinity): Transport {
  return async ({ body }) => {
    const { timeout_ms } = body as { readonly timeout_ms?: number }
    asked.push(timeout_ms)
    if (asked.length >= passes) return { status: 200, body: { passed: true, actual: 1, matched: ['r'] } }
    const description = `Not enough matching requests came within ${timeout_ms} ms.`
    return { status: 409, body: { passed: false, timed_out: true, description } }
  }
}
