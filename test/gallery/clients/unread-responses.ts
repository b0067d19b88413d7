import { Agent, get, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Service } from '../client.ts'

// The connections outlive a call, as those of a program do.
const agent = new Agent({ keepAlive: true })

/** Lists the users of a teamspace, and repeats the request while the service is not available. */
export async function run({ baseUrl, apiKey, sleep }: Service): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const response = await open(`${baseUrl}/organization/teamspaces/teamspace-harbor/users`, apiKey)
    if (response.statusCode === 200) return json(response)
    // Bug:
    // Repair:
    // response.resume()
    // End.
    if (response.statusCode !== 503 || attempt === 6) throw new Error(`status ${response.statusCode}`)
    await sleep(Number(response.headers['retry-after'] ?? 2 ** attempt) * 1000)
  }
}

function open(url: string, apiKey: string): Promise<IncomingMessage> {
  const options = { agent, headers: { Authorization: `Bearer ${apiKey}` } }
  return new Promise((resolve, reject) => get(url, options, resolve).on('error', reject))
}
