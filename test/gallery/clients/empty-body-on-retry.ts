import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Input, Service } from '../client.ts'

/** Creates a batch from a source that is read in pieces, as from a file, and repeats the request after a 500. */
export async function run({ baseUrl, apiKey, sleep }: Service, { batch, key }: Input): Promise<unknown> {
  const headers = {
    Authorization: `Bearer ${apiKey}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': key,
  }
  const pieces = piecesOf(JSON.stringify(batch))
  // Bug:
  const body = () => pieces
  // Repair:
  // const body = () => piecesOf(JSON.stringify(batch))
  // End.
  for (let attempt = 1; ; attempt++) {
    const response = await send(request(`${baseUrl}/batch-predictions`, { method: 'POST', headers }), body())
    const value = await json(response)
    if (response.statusCode !== 500 || attempt === 3) return value
    await sleep(1000 * 2 ** attempt)
  }
}

function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 64) yield text.slice(at, at + 64)
}

function send(sent: ClientRequest, pieces: Iterable<string>): Promise<IncomingMessage> {
  for (const piece of pieces) sent.write(piece)
  sent.end()
  return new Promise((resolve, reject) => sent.on('response', resolve).on('error', reject))
}
