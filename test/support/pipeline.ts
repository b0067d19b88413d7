import { connect } from 'node:net'

/** One request as bytes, without the empty line that ends its head. */
export interface RawHead {
  /** Request line and headers. */
  readonly lines: readonly string[]
  readonly body?: string
}

/** Milliseconds of silence after which the connection is closed. */
const PATIENCE = 15_000

/**
 * Sends all requests on one connection without waiting for responses (HTTP pipelining) and without retries, and reads the
 * statuses. The last request has `Connection: close`.
 * @returns fewer statuses than requests if a response is missing
 */
export async function pipelined(port: number, requests: readonly RawHead[]): Promise<number[]> {
  const socket = connect(port, '127.0.0.1')
  // A broken connection is visible in the number of statuses.
  socket.on('error', () => {})
  socket.setEncoding('latin1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  // Ends a response that has no end, such as a stream of events.
  socket.setTimeout(PATIENCE, () => socket.destroy())
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (const [index, { lines, body = '' }] of requests.entries()) {
    const last = index === requests.length - 1 ? ['Connection: close'] : []
    socket.write(`${[...lines, ...last].join('\r\n')}\r\n\r\n${body}`)
  }
  await closed
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}
