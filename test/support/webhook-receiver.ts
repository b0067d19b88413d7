import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A received webhook. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape; the assertions are the types.
  readonly body: any
}

/** The reaction of a receiver: it returns a status, or writes the response itself and returns nothing. */
export type React = (
  received: Received,
  res: ServerResponse,
) => number | undefined | Promise<number | undefined>

export type WebhookReceiver = Awaited<ReturnType<typeof webhookReceiver>>

/** A receiver of webhooks on a separate port, closed after the test; by default it responds with 200. */
export async function webhookReceiver(react: React = () => 200) {
  const received: Received[] = []
  let waiting: (() => void)[] = []
  const server = createServer((req, res) => {
    void read(req).then(async (each) => {
      received.push(each)
      for (const look of waiting) look()
      await response(react, each, res)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    /** The number of open connections. */
    connections: () =>
      new Promise<number>((resolve, reject) =>
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
      ),
    /** Resolves when this many webhooks have arrived. */
    arrived: (count: number) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (received.length < count) return
          waiting = waiting.filter((each) => each !== look)
          resolve()
        }
        waiting.push(look)
        look()
      }),
  }
}

async function response(react: React, received: Received, res: ServerResponse): Promise<void> {
  const status = await react(received, res)
  if (status !== undefined) res.writeHead(status).end()
}

async function read(req: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const { method = '', url = '', headers } = req
  return { method, path: url, headers, text, body: text === '' ? undefined : JSON.parse(text) }
}
