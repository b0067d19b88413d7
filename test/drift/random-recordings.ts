import { expect, test } from 'vitest'
import { Chance } from '../../src/core/random.ts'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'
import { driftOf, findingTexts } from './recorded.ts'

/** A recording of random requests: batches of any pace and end, lists with deletions, records that are created, read and deleted. */
async function randomRecording(seed: number) {
  const chance = new Chance(seed, 'drift')
  const pick = <T>(list: readonly T[]) => list[chance.int(0, list.length - 1)]
  const users = Array.from({ length: chance.int(3, 12) }, (_, n) => ({
    ...{ id: `user-${n}`, organization_id: 'org-1', email: `u${n}@example.com`, first_name: `F${n}` },
    ...{ last_name: `L${n}`, created_at: `2026-02-${10 + n}T00:00:00.000Z` },
  }))
  const memberships = users.map(({ id, created_at }, n) => ({
    ...{ id: `m-${n}`, teamspace_id: 'ts-a', user_id: id, role: 'member', agent_ids: [], created_at },
  }))
  const seconds = chance.pick(['100ms', '2s', '1m'])
  const emulator = await testEmulator({
    collections: { ...sampleRecords, users, memberships },
    settings: { 'batch.pace': { validating: seconds, finalizing: seconds } },
    seed,
  })
  const batches: string[] = []
  const pages: string[] = []
  const list = '/organization/teamspaces/ts-a/users'
  const aBatch = () => `/batch-predictions/${pick(batches) ?? 'none'}`
  const steps: (() => Promise<unknown>)[] = [
    async () =>
      batches.push((await emulator.post('/batch-predictions', batchBody(chance.int(1, 9)))).body.id),
    () => emulator.get(aBatch()),
    () => emulator.get(aBatch()),
    () => emulator.get(`${aBatch()}/results`),
    () => emulator.post(`${aBatch()}/cancel`),
    async () => {
      const id = pick(batches)
      const end = chance.pick(['fail', 'expire', 'complete', 'cleanup'])
      if (id !== undefined) await emulator.control('POST', `/batches/${id}/${end}`).catch(() => {})
    },
    async () => emulator.advance(chance.pick(['1s', '3s', '2m', '25h'])),
    () => emulator.get(`${list}?limit=${chance.int(1, 6)}`),
    async () => {
      const limit = chance.int(1, 4)
      for (let after: string | undefined; ; ) {
        const page = (await emulator.get(`${list}?limit=${limit}${after ? `&after=${after}` : ''}`)).body
        after = page.data.at(-1)?.id
        if (!page.has_more) return
      }
    },
    () => emulator.delete(`${list}/user-${chance.int(0, 14)}`),
    async () => pages.push((await emulator.post('/pages', { name: 'A' })).body.id),
    () => emulator.post('/pages', { name: 'B', parent: { type: 'page', page_id: pick(pages) ?? 'none' } }),
    () => emulator.patch('/organization/teamspaces/ts-a', { name: `N${chance.int(0, 99)}` }),
    () => emulator.delete(`/agents/agent-1/automations/automation-${chance.int(1, 3)}`),
    () => emulator.patch('/agents/agent-1/event-triggers/trigger-1', { enabled: chance.next() < 0.5 }),
    () => emulator.post('/skills/skill-1/promote'),
    () => emulator.post('/agents/claim', { claim_token: 'claim-1' }),
    () => emulator.get('/organization/mcp-servers'),
    () => emulator.get('/data-views', chance.next() < 0.2 ? { key: 'none' } : {}),
    () => emulator.get('/organization/reports/consumption-breakdown?limit=3'),
  ]
  for (let left = chance.int(3, 40); left > 0; left--) await pick(steps)?.()
  // One read that answers, so that there is something to compare.
  await emulator.get('/data-views')
  return (await emulator.control('GET', '/requests/har')).body
}

/** Compares recordings of random requests with the emulator that was recorded. */
export function testRandomRecordings(count: number): void {
  test.each(Array.from({ length: count }, (_, n) => n + 1))(
    'the emulator answers as it was recorded: random recording %i',
    async (seed) => {
      const report = await driftOf(await randomRecording(seed))
      expect(findingTexts(report)).toEqual([])
      expect(2 * report.compared).toBeGreaterThanOrEqual(report.exchanges)
    },
  )
}
