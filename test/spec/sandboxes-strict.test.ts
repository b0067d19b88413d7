import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'

const at = (sandbox: string) => ({ headers: { 'X-Emulator-Sandbox': sandbox } })

test('a read with a mistyped name creates no sandbox, and names the nearest', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/sandboxes', { name: 'typo' })
  for (const path of ['/clock', '/requests', '/faults', '/state', '/limits', '/clock/horizon']) {
    const { status, body } = await emulator.in('tpyo')('GET', path)
    expect([path, status, body.message, body.mitigation]).toEqual([
      path,
      404,
      'There is no sandbox "tpyo". Did you mean "typo"?',
      '"workspace-emulator sandbox list" lists them.',
    ])
  }
  expect(emulator.emulator.sandboxes.has('tpyo')).toBe(false)
})

test('a write to a new name or an API call under it creates the sandbox by default', async () => {
  const emulator = await testEmulator()
  expect((await emulator.in('w1')('POST', '/faults', { preset: 'slow' })).status).toBe(201)
  expect((await emulator.get('/data-views', at('w2'))).status).toBe(200)
  expect((await emulator.in('w2')('GET', '/clock')).status).toBe(200)
})

test('with sandboxes: strict unknown names are refused on the API too, until one is created', async () => {
  const emulator = await testEmulator({ sandboxes: 'strict' })
  await emulator.control('POST', '/sandboxes', { name: 'typo' })
  const refused = await emulator.get('/data-views', at('tpyo'))
  expect([refused.status, refused.body.error]).toEqual([404, 'not_found'])
  expect([refused.body.message, refused.body.mitigation]).toEqual([
    'There is no sandbox "tpyo". Did you mean "typo"?',
    '"workspace-emulator sandbox list" lists them; "workspace-emulator sandbox create NAME" creates one.',
  ])
  expect((await emulator.in('tpyo')('POST', '/faults', { preset: 'slow' })).status).toBe(404)
  expect((await emulator.get('/data-views', at('typo'))).status).toBe(200)
  expect((await emulator.get('/data-views')).status).toBe(200)
  expect(emulator.emulator.sandboxes.has('tpyo')).toBe(false)
})

test('a request that started before a deletion does not create the sandbox again', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/sandboxes', { name: 'gone' })
  const { port } = emulator.emulator
  const body = '{"preset":"slow"}'
  const socket = connect(port, '127.0.0.1')
  const received: Buffer[] = []
  socket.on('data', (data) => received.push(data))
  const ended = new Promise((resolve) => socket.once('close', resolve))
  socket.write(
    `POST /@gone/__emulator/faults HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  // The interim response means that the head has arrived and the body is being read.
  await new Promise((resolve) => socket.once('data', resolve))
  expect((await emulator.control('DELETE', '/sandboxes/gone')).status).toBe(204)
  socket.write(body)
  await ended
  const text = Buffer.concat(received).toString()
  expect(text).toContain('HTTP/1.1 404 Not Found')
  expect(text).toContain('The sandbox \\"gone\\" has been removed.')
  expect(emulator.emulator.sandboxes.has('gone')).toBe(false)
  expect((await emulator.get('/data-views', at('gone'))).status).toBe(200)
})

test('a request during a deletion does not create the sandbox again', async () => {
  const emulator = await testEmulator()
  const { sandboxes } = emulator.emulator
  await sandboxes.open('gone')
  const deletion = sandboxes.delete('gone')
  // The deletion has started, and ends in a later turn of the event loop.
  await Promise.resolve()
  while (sandboxes.has('gone')) await Promise.resolve()
  await expect(sandboxes.open('gone')).rejects.toThrow('The sandbox "gone" has been removed.')
  await deletion
  expect(sandboxes.has('gone')).toBe(false)
  expect((await sandboxes.open('gone')).name).toBe('gone')
})
