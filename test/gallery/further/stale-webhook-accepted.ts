import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { aBatch } from 'agent-workspace-emulator'
import type { Surroundings } from './client.ts'

/** Verifies the signature of a webhook and not the age of its timestamp: a recorded webhook is valid for ever. */
export async function run({ baseUrl, apiKey, sleep, webhooks }: Surroundings): Promise<readonly string[]> {
  const accepted: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const signed = `${request.headers['x-timestamp']}.${body}`
    const right = Buffer.from(`sha256=${createHmac('sha256', webhooks.secret).update(signed).digest('hex')}`)
    const given = Buffer.from(String(request.headers['x-signature']))
    const valid = given.length === right.length && timingSafeEqual(given, right)
    if (valid) accepted.push(JSON.parse(body).id)
    response.writeHead(valid ? 200 : 401).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await webhooks.subscribe(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  await fetch(`${baseUrl}/batch-predictions`, { method: 'POST', headers, body: JSON.stringify(aBatch()) })
  await sleep(3_600_000)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  return accepted
}
