import { Agent, get } from 'node:http'
import type { Service } from '../client.ts'

/** Lists the users of a teamspace twice over a connection that stays open. */
export async function run({ baseUrl, apiKey }: Service): Promise<unknown> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const url = `${baseUrl}/organization/teamspaces/teamspace-harbor/users`
  const list = () => read(url, { agent, headers: { Authorization: `Bearer ${apiKey}` } })
  try {
    const before = await list()
    // Bug:
    const after = await list()
    // Repair:
    // const after = await list().catch(list)
    // End.
    return { before, after }
  } finally {
    agent.destroy()
  }
}

function read(url: string, options: { agent: Agent; headers: Record<string, string> }): Promise<unknown> {
  return new Promise((resolve, reject) => {
    get(url, options, async (response) => {
      const pieces = await response.toArray().catch(reject)
      if (pieces !== undefined) resolve(JSON.parse(Buffer.concat(pieces).toString()))
    }).on('error', reject)
  })
}
