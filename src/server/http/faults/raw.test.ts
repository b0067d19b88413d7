import { expect, test } from 'vitest'
import { faultedServer } from '../../../../test/support/faulted-server.ts'
import { overSocket, requestBytes } from '../../../../test/support/wire-client.ts'
import type { Action } from '../../../core/faults/primitive.ts'

const KEPT = requestBytes({ path: '/', headers: { Connection: 'keep-alive' } })

async function sees(bytes: string, ...more: Action[]) {
  const raw = { base64: Buffer.from(bytes, 'latin1').toString('base64') }
  const { port, sent } = await faultedServer({ actions: [{ raw }, ...more] })
  return { ...(await overSocket(port, KEPT)), sent }
}

test('only the raw bytes are sent, also none', async () => {
  for (const text of ['HTTP/1.1 200\r\nContent-Length: -1\n\n\xff\x00', '']) {
    const sent = [{ stage: 'end', bytes: text.length, end: 'whole' }]
    expect(await sees(text)).toMatchObject({ text, end: 'fin', sent })
  }
})

test('raw bytes can be cut and paced like a body', async () => {
  const cut = await sees('HTTP/1.1 200 OK\r\n\r\n', { cut: { at: { bytes: 8 }, how: 'rst' } })
  expect(cut).toMatchObject({ text: 'HTTP/1.1', end: 'rst' })
  const split = await sees('4\r\nab\r\n', { pace: { chunks: [2], gap_ms: 200 } })
  expect(split.pieces.map(String)).toEqual(['4\r', '\nab\r\n'])
})

test('other faults do not change the raw bytes', async () => {
  const others: Action[] = [
    { head: { status: 500 } },
    { body: { text: 'y' } },
    { frame: { mode: 'chunked' } },
  ]
  expect((await sees('x', ...others)).text).toBe('x')
})
