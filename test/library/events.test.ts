import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { serverSentEvents } from '../../src/control-client/events.ts'
import { type SandboxEvent, startEmulator } from '../../src/index.ts'
import { bothWays, createBatch } from './both-ways.ts'

const { emulator } = bothWays()

test('the stream reports the events of a sandbox, starting with hello', async () => {
  await using sandbox = await emulator().sandbox()
  const feed = sandbox.events()[Symbol.asyncIterator]()
  const hello = await feed.next()
  expect(hello.value).toMatchObject({ type: 'hello', data: { sandbox: sandbox.name, rate: 0 } })
  const batch = await createBatch(sandbox)
  await sandbox.clock.advance({ until: { batch } })
  await sandbox.reset()
  const told = await upTo(feed, 'sandbox')
  const types = new Set(told.map(({ type }) => type))
  expect([...types]).toEqual(expect.arrayContaining(['request', 'transition', 'event', 'clock', 'sandbox']))
  const moves = told.flatMap((each) => (each.type === 'transition' ? [each.data.to] : []))
  expect(moves).toEqual(['in_progress', 'finalizing', 'completed'])
  await feed.return?.()
})

test('a stream sends only the requested types, and ends when its signal aborts', async () => {
  await using sandbox = await emulator().sandbox()
  const leaving = new AbortController()
  const told: SandboxEvent[] = []
  for await (const event of sandbox.events({ types: ['request'], signal: leaving.signal })) {
    told.push(event)
    if (event.type === 'hello') await sandbox.clock.set({ rate: 1 })
    if (event.type === 'hello') await sandbox.fetch('/agents')
    if (event.type === 'request') leaving.abort()
  }
  expect(told.map(({ type }) => type)).toEqual(['hello', 'request'])
  expect(getEventListeners(leaving.signal, 'abort')).toEqual([])
  for await (const _ of sandbox.events({ signal: leaving.signal })) throw new Error('an event after the end')
})

test('a signal ends a stream that is waiting', async () => {
  await using sandbox = await emulator().sandbox()
  const leaving = new AbortController()
  const feed = sandbox.events({ types: ['clock'], signal: leaving.signal })[Symbol.asyncIterator]()
  await feed.next()
  const waiting = feed.next()
  leaving.abort()
  expect(await waiting).toEqual({ value: undefined, done: true })
})

test('opening a stream late does not create its removed sandbox again', async () => {
  const sandbox = await emulator().sandbox()
  const feed = sandbox.events()[Symbol.asyncIterator]()
  await sandbox.delete()
  await expect(feed.next()).rejects.toMatchObject({ status: 404 })
  await expect(emulator().sandboxes.show(sandbox.name)).rejects.toMatchObject({ status: 404 })
})

test('a stream ends with a reason when its emulator closes', async () => {
  const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  const told: SandboxEvent[] = []
  for await (const event of emulator.defaultSandbox.events()) {
    told.push(event)
    if (event.type === 'hello') void emulator.close()
  }
  expect(told.at(-1)).toEqual({ type: 'end', data: { reason: 'the emulator is closing' } })
  await emulator.close()
})

test('server-sent events are parsed correctly for every chunk size', async () => {
  const text =
    ':\n\nid: 1\nevent: a\ndata: {"ü":1}\n\ndata: one\r\ndata:two\r\n\r\nevent: empty\n\ndata: rest'
  const bytes = new TextEncoder().encode(text)
  for (let size = 1; size <= bytes.length; size += 1) {
    const read = []
    for await (const event of serverSentEvents(piecesOf(bytes, size))) read.push(event)
    expect(read).toEqual([
      { type: 'a', data: '{"ü":1}' },
      { type: 'message', data: 'one\ntwo' },
    ])
  }
})

async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function upTo(feed: AsyncIterator<SandboxEvent>, last: SandboxEvent['type']): Promise<SandboxEvent[]> {
  const told: SandboxEvent[] = []
  while (told.at(-1)?.type !== last) {
    const { value, done } = await feed.next()
    if (done === true) throw new Error(`the feed ended before ${last}`)
    told.push(value)
  }
  return told
}
