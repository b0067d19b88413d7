import type { Agent } from 'node:http'
import { createRequire } from 'node:module'
import { isLoopback } from '../server/origins.ts'
import { realFetch } from './transport.ts'

// Loaded with the first request.
const load = createRequire(import.meta.url)

let agent: Agent | undefined

/** Connects without the proxy of the environment, which Node's global agent may use. */
export function directAgent(): Agent {
  const { Agent: Direct } = load('node:http') as typeof import('node:http')
  agent ??= new Direct({ keepAlive: true, scheduling: 'lifo', timeout: 5_000 })
  return agent
}

/** Whether a URL is of this machine, which no proxy can reach. */
export function isLocal(url: string): boolean {
  return isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''))
}

/**
 * The global `fetch`, but for a URL of this machine without the proxy that the global one may use; it then follows no redirects.
 */
export const directFetch: typeof fetch = async (input, init) => {
  const dispatcher: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  const isProxied = /Proxy/.test(dispatcher?.constructor.name ?? '')
  if (!isProxied || !isLocal(input instanceof Request ? input.url : String(input)))
    return realFetch(input, init)
  const { fetchOver } = await import('../server/http/fetch.ts')
  return fetchOver(directAgent)(input, init)
}
