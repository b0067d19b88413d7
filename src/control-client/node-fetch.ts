import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { directAgent, isLocal } from './direct.ts'
import type { Fetch } from './over-http.ts'

/**
 * Sends a request with node:http, since loading the global `fetch` takes as long as the rest of a command, and since its
 * connections use the timers of the program, which may be fake. Rejects with a TypeError like `fetch`, with the error of the
 * operating system as the cause.
 */
export const nodeFetch: Fetch = async (url, { method, headers, body, signal }) => {
  try {
    const { request } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const agent = url.startsWith('http:') && isLocal(url) ? { agent: directAgent() } : {}
    const sent = request(url, {
      method,
      headers: { ...headers, ...length },
      ...(signal && { signal }),
      ...agent,
    })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const read = await text(response)
    return {
      status: response.statusCode ?? 0,
      headers: { get: (name) => response.headers[name.toLowerCase()]?.toString() ?? null },
      text: async () => read,
    }
  } catch (cause) {
    throw new TypeError('fetch failed', { cause })
  }
}
