import { expect, test } from 'vitest'
import { temporaryDirectory, temporaryFile } from '../cli/in-process.ts'
import { spawnEmulator } from '../cli/process.ts'
import { baseCollections, KEYS } from '../support/base-state.ts'
import { aBatch } from '../support/batches.ts'
import { callControl } from '../support/control-emulator.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'

const file = { id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }

test('a webhook in flight when the process is killed is sent again after the restart, as another attempt', {
  tags: ['R233', 'R280'],
}, async () => {
  let responses = false
  const receiver = await webhookReceiver(() => (responses ? 200 : undefined))
  const collections = { ...baseCollections, files: [file] }
  const fixtures = temporaryFile('fixtures.json', JSON.stringify({ collections }))
  const argv = ['--data', temporaryDirectory(), '--fixtures', fixtures, '--rate', '0', '--limits', 'off']
  const first = await spawnEmulator([...argv, '--clock', '2026-03-01T12:00:00Z'])
  await callControl(first.ready.port, 'POST', '/webhooks', { url: receiver.url })
  const headers = { authorization: `Bearer ${KEYS.KU}`, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(aBatch({ items: 1 })) }
  const ids: string[] = []
  for (let n = 0; n < 25; n++) {
    const created = await fetch(`${first.ready.base_url}/batch-predictions`, init)
    ids.push(((await created.json()) as { id: string }).id)
  }
  for (const id of ids) await callControl(first.ready.port, 'POST', `/batches/${id}/complete`)
  // 20 are in flight and 5 wait for their turn when the process dies.
  await receiver.arrived(20)
  first.child.kill('SIGKILL')
  expect((await first.ended).code).toBe(null)
  responses = true

  const second = await spawnEmulator(argv)
  await callControl(second.ready.port, 'POST', '/clock/advance', { by: '40d' })
  const { body } = await callControl(second.ready.port, 'GET', '/webhooks/deliveries')
  expect(body.data.map(({ ref }: { ref: string }) => ref)).toEqual(ids.map((id) => `batch_predictions/${id}`))
  for (const [index, { id, attempts, body: sent }] of body.data.entries()) {
    const outcomes = attempts.map(({ outcome }: { outcome: string }) => outcome)
    expect(outcomes).toEqual(index < 20 ? ['interrupted', 'delivered'] : ['delivered'])
    const arrived = receiver.received.filter(({ headers }) => headers['x-emulator-delivery'] === id)
    expect(arrived.map(({ text }) => text)).toEqual(outcomes.map(() => JSON.stringify(sent)))
  }
  second.child.kill('SIGTERM')
  await second.ended
})
