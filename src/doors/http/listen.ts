import type { Server } from 'node:http'

/** The address at which a server listens. */
export interface ListenAddress {
  /** 0 to 65535; 0 asks for any free port. */
  readonly port: number
  /** A name or address of this machine. */
  readonly host: string
}

/** A server cannot listen where it was asked to; the message tells the way out. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  /** The operating system's word, such as `EADDRINUSE`. */
  readonly code: string

  constructor(code: string, message: string, cause: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/**
 * Starts to listen and resolves with the address that was really bound.
 * @throws ListenError when the port is taken, not permitted or impossible, or the host is not one of this machine
 */
export function listen(server: Server, address: ListenAddress): Promise<ListenAddress> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(listenError(error, address))
    server.once('error', fail)
    try {
      server.listen({ port: address.port, host: address.host }, () => {
        server.removeListener('error', fail)
        resolve(boundAddress(server, address))
      })
    } catch (error) {
      server.removeListener('error', fail)
      fail(error)
    }
  })
}

function boundAddress(server: Server, asked: ListenAddress): ListenAddress {
  const bound = server.address()
  return typeof bound === 'object' && bound !== null ? { port: bound.port, host: bound.address } : asked
}

function listenError(error: unknown, { port, host }: ListenAddress): ListenError {
  const code = codeOf(error)
  const say = (message: string) => new ListenError(code, message, error)
  switch (code) {
    case 'EADDRINUSE':
      return say(
        `Port ${port} on ${host} is in use. Choose another with --port, or a free one with --port 0.`,
      )
    case 'EACCES':
    case 'EPERM':
      return say(
        `Listening on port ${port} of ${host} is not permitted. Choose a --port above 1023, or --port 0.`,
      )
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return say(
        `${host} is no address of this machine (${code}). Use --host 127.0.0.1, or 0.0.0.0 for all of them.`,
      )
    case 'ERR_SOCKET_BAD_PORT':
      return say(`${port} is not a port. Give --port a whole number from 0 (any free one) to 65535.`)
    default:
      return say(`Cannot listen on port ${port} of ${host}: ${code}. Try another --port or --host.`)
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
