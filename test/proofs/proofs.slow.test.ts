import { expect, test } from 'vitest'
import { proofs } from './index.ts'
import { broken } from './proof.ts'
import { leaks } from './security/canaries.ts'

/** Runs the proof that a title begins with, in its short scale. */
async function proved(title: string): Promise<void> {
  const said: string[] = []
  const proof = await proofs.get(title.slice(0, 2))?.()
  const figures = await proof?.run('short', (line) => said.push(line))
  expect(figures?.length).toBeGreaterThan(0)
  expect(broken(figures ?? []), said.join('\n')).toEqual([])
}

// A busy machine may need ten times as long.
const timeout = 300_000

test(
  'D1 no acknowledged write is lost, repeated or unreported after a kill',
  {
    timeout,
    tags: ['R280', 'R233'],
  },
  () => proved('D1'),
)

test(
  'F3 batches agree with their model, and a race has one outcome',
  {
    timeout,
    tags: ['R083', 'R114', 'R115', 'R221', 'R295'],
  },
  () => proved('F3'),
)

test.for([
  'D5 hand edits of every kind are accepted, or refused and kept, and the emulator keeps running',
  'D7 a signal stops the process in order and in time, and deletes nothing',
  'D8 only one of several isolated processes writes, and one that lost the folder acknowledges nothing',
  'F1 responses to generated requests agree with the OpenAPI document, and refusals change nothing',
  'F2 the emulator survives malformed bytes and continues to respond',
  'F5 responses do not depend on order, or on the start of the clock',
  'F6 no work of the clock keeps other requests waiting',
  'S1 memory and handles do not grow under continuous load',
  'X4 names such as __proto__ are always treated as plain names',
  'X5 text of a caller is always displayed as plain text',
  'X6 no secret is in a response, in the control interface, or on the disk',
])('%s', { timeout }, proved)

test('X6 the search finds a secret that is present', () => {
  expect(leaks('key live_canary-api-key')).toEqual(['canary-api-key'])
  expect(leaks('canary-webhook-secret', ['canary-webhook-secret'])).toEqual([])
})
