import type { IncomingMessage, ServerResponse } from 'node:http'

/** A handler of requests for node:http, Express and Connect. Its type needs no types of Express. */
export type MountedHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** Responds to a request as the global `fetch` does, without a network. */
export type FetchHandler = (request: Request | string | URL, init?: RequestInit) => Promise<Response>
