import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { TestContext } from 'vitest'

/** Receives webhooks on a free port until the test is over. In production, your own handler has this role. */
export async function webhookReceiver({
  onTestFinished,
}: Pick<TestContext, 'onTestFinished'>): Promise<{ readonly url: string; readonly received: unknown[] }> {
  const received: unknown[] = []
  const server = createServer(async (req, res) => {
    received.push(await json(req))
    res.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
}
