import { expect, test } from 'vitest'
import { proofs } from './index.ts'
import { broken } from './proof.ts'
import { leaks } from './security/canaries.ts'

/** Runs a proof in its short scale. */
async function proved(id: string): Promise<void> {
  const said: string[] = []
  const proof = await proofs.get(id)?.()
  const figures = await proof?.run('short', (line) => said.push(line))
  expect(figures?.length).toBeGreaterThan(0)
  expect(broken(figures ?? []), said.join('\n')).toEqual([])
}

// A busy machine may need ten times as long.
const timeout = 300_000

test(
  'D1 no acknowledged write is lost, duplicated or unreported when the process is killed while writing',
  {
    timeout,
    tags: ['R280', 'R233'],
  },
  () => proved('D1'),
)

test(
  'D8 only one of several isolated processes writes, and one that lost the folder acknowledges nothing',
  {
    timeout,
  },
  () => proved('D8'),
)

test(
  'F1 responses to generated requests on all routes agree with the OpenAPI document, and refusals change nothing',
  {
    timeout,
  },
  () => proved('F1'),
)

test(
  'F3 every sequence of commands agrees with the model of batches, and every race has exactly one outcome',
  {
    timeout,
    tags: ['R083', 'R114', 'R115', 'R221', 'R295'],
  },
  () => proved('F3'),
)

test('F5 responses do not depend on order, or on the start of the clock', { timeout }, () => proved('F5'))

test('D7 a signal stops the process in order and in time, and deletes nothing', { timeout }, () =>
  proved('D7'),
)

test('F6 no work of the clock keeps other requests waiting', { timeout }, () => proved('F6'))

test('S1 memory and handles do not grow under continuous load', { timeout }, () => proved('S1'))

test('X4 names such as __proto__ are always treated as plain names', { timeout }, () => proved('X4'))

test('X5 text of a caller is always displayed as plain text', { timeout }, () => proved('X5'))

test('X6 no secret is in a response, in the control interface, or on the disk', { timeout }, () =>
  proved('X6'),
)

test('X6 the search finds a secret that is present', () => {
  expect(leaks('key live_canary-api-key')).toEqual(['canary-api-key'])
  expect(leaks('canary-webhook-secret', ['canary-webhook-secret'])).toEqual([])
})
