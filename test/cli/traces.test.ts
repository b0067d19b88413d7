import { aBatch } from 'agent-workspace-emulator'
import { expect, test } from 'vitest'
import { webhookReceiver } from '../support/webhook-receiver.ts'
import { running } from './running.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const HEADER = `00-${TRACE}-00f067aa0ba902b7-01`
const START = { fixtures: 'demo', rate: 0 } as const

const PAGE = { name: 'Roof' }

test('the trace of a request is shown and filterable in log, explanation, HAR and terminal', async () => {
  const { api, run, data } = await running(START)
  await api('/pages', PAGE, { traceparent: HEADER })
  await api('/pages', PAGE, { traceparent: `00-${'1'.repeat(32)}-00f067aa0ba902b7-00` })
  const { data: all } = await data('requests')
  const { data: found } = await data('requests', '--trace', TRACE)
  expect(all.map(({ trace }: { trace: string }) => trace)).toEqual([TRACE, '1'.repeat(32)])
  expect(found.map(({ id }: { id: string }) => id)).toEqual([all[0].id])
  expect((await data('requests', '--trace', '4bf92f*')).data).toHaveLength(1)
  expect(await data('explain', all[0].id)).toMatchObject({ trace: TRACE })
  expect((await run('explain', all[0].id)).out).toContain(`Trace        ${TRACE}`)
  expect((await run('requests', '--columns', 'id,trace')).out).toContain(TRACE)
  expect((await run('requests', '--full')).out).toContain(`trace ${TRACE}`)
  const har = await data('requests', 'export', '--trace', TRACE)
  expect(har.log.entries).toMatchObject([{ _trace: TRACE }])
  expect(await data('requests', 'verify', JSON.stringify({ trace: TRACE }))).toMatchObject({ actual: 1 })
})

test.for([
  ['another version', `01-${TRACE}-00f067aa0ba902b7-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
  ['a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['upper case', HEADER.toUpperCase()],
  ['another text', 'trace-1'],
] as const)('a traceparent with %s is ignored', async ([, traceparent]) => {
  const { api, data } = await running(START)
  await api('/pages', PAGE, { traceparent })
  expect((await data('requests')).data[0]).not.toHaveProperty('trace')
})

test('the webhooks that a request has led to carry its trace, each with a new parent', async () => {
  const receiver = await webhookReceiver(() => 204)
  const { api, run } = await running(START)
  await run('webhook', 'add', receiver.url)
  await api('/batch-predictions', aBatch({ items: 1 }), { traceparent: HEADER })
  await api('/batch-predictions', aBatch({ items: 1 }))
  await run('clock', 'advance', '1h')
  const sent = receiver.received.map(({ headers }) => headers.traceparent)
  const traced = sent.filter((each) => each !== undefined)
  expect(traced.length).toBeGreaterThan(0)
  expect(sent).toHaveLength(2 * traced.length)
  for (const each of traced) expect(each).toMatch(new RegExp(`^00-${TRACE}-[1-9a-f][0-9a-f]{15}-01$`))
  expect(new Set([HEADER, ...traced]).size).toBe(traced.length + 1)
})
