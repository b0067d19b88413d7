import { once, setMaxListeners } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Refusal } from '../../core/errors.ts'
import { type FeedSource, Feeds, MAX_FEEDS, type Tell } from './feed.ts'

/** Feeds on a real server, with a timer that the test controls. */
async function feedsInHand() {
  let pulse: (() => void) | undefined
  let tell: Tell = () => {}
  const state = { listeners: 0 }
  const closing = new AbortController()
  // As the signal of an emulator: Node would warn about more than ten feeds.
  setMaxListeners(0, closing.signal)
  const feeds = new Feeds((_ms, call) => {
    pulse = call
    return () => {
      pulse = undefined
    }
  })
  const source: FeedSource = {
    hello: () => ({ now: 'noon' }),
    listen: (given) => {
      tell = given
      state.listeners += 1
      return () => {
        state.listeners -= 1
      }
    },
    isThere: () => true,
  }
  const responses: ServerResponse[] = []
  const server = createServer((_req, res) => {
    responses.push(res)
    feeds.open(source, closing.signal)(res)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return {
    ...{ feeds, state, source, closing, responses },
    tell: (type: string, data: object) => tell(type, data),
    pulses: (count: number) => {
      for (let n = 0; n < count; n++) pulse?.()
    },
    isPulsing: () => pulse !== undefined,
    /** Stops reading, fills the connection, and loses one event. Returns the number of events that are not lost. */
    fallBehind: (socket: Socket): number => {
      socket.pause()
      let told = 0
      for (; (responses[0]?.writableLength ?? 0) <= 1_048_576; told++)
        tell('filling', { filling: 'x'.repeat(65_536) })
      tell('lost', {})
      return told
    },
    reader: (method = 'GET') => reader((server.address() as AddressInfo).port, method),
  }
}

async function reader(port: number, method: string) {
  const socket: Socket = connect(port, '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`)
  await once(socket, 'data')
  const until = async (found: RegExp): Promise<void> => {
    while (!found.test(text)) await once(socket, 'data')
  }
  return { socket, until, text: () => text, closed }
}

test('a feed sends a comment every fifteen seconds', async () => {
  const { reader, pulses, tell } = await feedsInHand()
  const { until, text } = await reader()
  pulses(14)
  tell('request', {})
  await until(/request/)
  expect(text()).not.toContain('\n:\n')
  pulses(1)
  await until(/\n:\n/)
})

test('without a reader there is no listener and no timer', async () => {
  const { reader, state, feeds, isPulsing } = await feedsInHand()
  expect(isPulsing()).toBe(false)
  const { socket } = await reader()
  expect([state.listeners, feeds.size, isPulsing()]).toEqual([1, 1, true])
  socket.destroy()
  await expect.poll(() => feeds.size).toBe(0)
  expect([state.listeners, isPulsing()]).toEqual([0, false])
})

test('a HEAD request gets a response without a feed', async () => {
  const { reader, feeds, state } = await feedsInHand()
  const { text } = await reader('HEAD')
  expect(text()).toContain('200 OK')
  await expect.poll(() => feeds.size).toBe(0)
  expect(state.listeners).toBe(0)
})

test('events that a slow reader misses are counted, and their number is sent at their place', async () => {
  const { reader, tell, responses, fallBehind } = await feedsInHand()
  const { socket, until, text } = await reader()
  const told = fallBehind(socket)
  for (let n = 1; n < 1_000; n++) tell('lost', { n })
  expect(responses[0]?.writableLength).toBeLessThan(1_048_576 + 2 * 65_536)
  socket.resume()
  await until(/dropped/)
  tell('later', {})
  await until(/later/)
  expect(text()).toContain(`id: ${told + 2}\nevent: dropped\ndata: {"count":1000}\n\n`)
  expect(text()).not.toContain('event: lost')
})

test('a slow reader that catches up within thirty seconds stays connected', async () => {
  const { reader, tell, pulses, fallBehind } = await feedsInHand()
  const { socket, until } = await reader()
  fallBehind(socket)
  pulses(29)
  socket.resume()
  await until(/dropped/)
  pulses(29)
  tell('later', {})
  await until(/later/)
})

test('a reader that does not read for thirty seconds is disconnected', async () => {
  const { reader, pulses, feeds, state, fallBehind } = await feedsInHand()
  const { socket, closed } = await reader()
  fallBehind(socket)
  pulses(30)
  await expect.poll(() => feeds.size).toBe(0)
  expect(state.listeners).toBe(0)
  socket.resume()
  await closed
})

test('a feed ends with a reason when the emulator closes', async () => {
  const { reader, closing, feeds } = await feedsInHand()
  const { until } = await reader()
  closing.abort()
  await until(/event: end\ndata: {"reason":"the emulator is closing"}\n\n/)
  await expect.poll(() => feeds.size).toBe(0)
})

test('a reader that has stopped reading is disconnected at once when the emulator closes', async () => {
  const { reader, closing, responses, feeds, fallBehind } = await feedsInHand()
  const { socket } = await reader()
  fallBehind(socket)
  closing.abort()
  expect(responses[0]?.destroyed).toBe(true)
  await expect.poll(() => feeds.size).toBe(0)
})

test('a feed beyond the maximum of 100 is refused', async () => {
  const { feeds, source, closing } = await feedsInHand()
  const open = () => feeds.open(source, closing.signal)(new ServerResponse(new IncomingMessage(new Socket())))
  for (let n = 0; n < MAX_FEEDS; n++) open()
  expect(open).toThrow(Refusal)
  expect(open).toThrow(/^100 feeds of events are open/)
})
