import { connect } from 'node:net'

/** One request as bytes, without the lines that end its head. */
export interface RawHead {
  /** Request line and headers. */
  readonly lines: readonly string[]
  readonly body?: string
}

/** Milliseconds of silence after which the rest is not waited for. */
const PATIENCE = 15_000

/**
 * Sends requests one behind the other on one connection, by a client that mends nothing, and reads the statuses of their
 * answers. The last request asks for the end of the connection.
 * @returns fewer statuses than there are requests when one of them is not answered
 */
export async function pipelined(port: number, requests: readonly RawHead[]): Promise<number[]> {
  const socket = connect(port, '127.0.0.1')
  // A connection that breaks shows in the count of responses.
  socket.on('error', () => {})
  socket.setEncoding('latin1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  // A response without end, such as a feed of events.
  socket.setTimeout(PATIENCE, () => socket.destroy())
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (const [index, { lines, body = '' }] of requests.entries()) {
    const last = index === requests.length - 1 ? ['Connection: close'] : []
    socket.write(`${[...lines, ...last].join('\r\n')}\r\n\r\n${body}`)
  }
  await closed
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}
