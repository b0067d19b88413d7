import { get, type IncomingMessage } from 'node:http'
import type { Input, Service } from '../client.ts'

/** Reads a batch. */
export async function run({ baseUrl, apiKey }: Service, { id }: Input): Promise<unknown> {
  const headers = { Authorization: `Bearer ${apiKey}` }
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    get(`${baseUrl}/batch-predictions/${id}`, { headers }, resolve).on('error', reject),
  )
  const text = await new Promise<string>((resolve, reject) => {
    let read = ''
    response.setEncoding('utf8')
    response.on('data', (piece) => {
      read += piece
    })
    response.on('end', () => resolve(read))
    response.on('timeout', reject)
    // Bug:
    // Repair:
    // response.on('error', reject)
    // End.
  })
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}: ${text}`)
  return JSON.parse(text)
}
