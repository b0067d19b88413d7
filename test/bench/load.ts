import { Agent, type IncomingMessage, request } from 'node:http'

/** Where and what to ask for. */
export interface Shot {
  readonly port: number
  readonly method: string
  readonly path: string
  readonly key: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What came back: the status, and how many bytes and lines the body had. */
export interface Hit {
  readonly status: number
  readonly bytes: number
  readonly text: string
}

/** Sends one request over the agent and reads the answer to its end. `keep`: whether the text is wanted. */
export function shoot(agent: Agent, shot: Shot, keep = false): Promise<Hit> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string | number> = { ...shot.headers, authorization: `Bearer ${shot.key}` }
    if (shot.body !== undefined) {
      headers['content-type'] = 'application/json'
      headers['content-length'] = Buffer.byteLength(shot.body)
    }
    const req = request({
      agent,
      host: '127.0.0.1',
      port: shot.port,
      method: shot.method,
      path: shot.path,
      headers,
    })
    req.on('error', reject)
    req.on('response', (res) => collect(res, keep).then(resolve, reject))
    req.end(shot.body)
  })
}

async function collect(res: IncomingMessage, keep: boolean): Promise<Hit> {
  let bytes = 0
  const chunks: Buffer[] = []
  for await (const chunk of res as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (keep) chunks.push(chunk)
  }
  return { status: res.statusCode ?? 0, bytes, text: Buffer.concat(chunks).toString('utf8') }
}

/** Sends `count` requests over `connections` connections and answers requests per second. Fails on any other status than 2xx. */
export async function load(shot: Shot, count: number, connections: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let left = count
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const { status } = await shoot(agent, shot)
      if (status < 200 || status > 299) throw new Error(`${shot.method} ${shot.path} answered ${status}`)
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: connections }, worker))
  const seconds = (performance.now() - start) / 1000
  agent.destroy()
  return count / seconds
}
