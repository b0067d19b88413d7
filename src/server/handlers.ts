import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * A handler of requests for node:http, Express and Connect. It is in a file that does not import Express: the published types
 * include this file, and a user may not have the types of Express.
 */
export type MountedHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: (error?: unknown) => void,
) => void
