import { once } from 'node:events'
import { type Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Shot {
  readonly port: number
  readonly method: string
  readonly path: string
  readonly key: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

export function shoot(agent: Agent, shot: Shot): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string | number> = { ...shot.headers, authorization: `Bearer ${shot.key}` }
    if (shot.body !== undefined) {
      headers['content-type'] = 'application/json'
      headers['content-length'] = Buffer.byteLength(shot.body)
    }
    const { port, method, path } = shot
    const req = request({ agent, host: '127.0.0.1', port, method, path, headers })
    req.on('error', reject)
    req.on('response', (res) =>
      text(res).then((body) => resolve({ status: res.statusCode ?? 0, text: body }), reject),
    )
    req.end(shot.body)
  })
}

/**
 * Sends requests over `connections` connections, a given number or for some milliseconds. @returns requests per second.
 * Fails on a status other than 200, 201 or 204. It implements HTTP itself, because node:http would need more time per request
 * than the measured servers.
 */
export async function load(
  shot: Shot,
  { requests = Infinity, ms = Infinity }: { readonly requests?: number; readonly ms?: number },
  connections: number,
): Promise<number> {
  const bytes = Buffer.from(textOf(shot))
  let sent = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const line = await Line.open(shot.port)
      while (sent < requests && performance.now() - start < ms) {
        sent += 1
        await line.exchange(bytes)
      }
      line.close()
    }),
  )
  return sent / ((performance.now() - start) / 1000)
}

function textOf({ method, path, key, body, port }: Shot): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n`
  if (body === undefined) return `${head}\r\n`
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

class Line {
  readonly #socket: Socket
  #done: () => void = () => {}
  #failed: (error: Error) => void = () => {}
  /** Bytes of the body that are missing; undefined while waiting for the head, -1 in a chunked body. */
  #missing: number | undefined
  #seen: Buffer = Buffer.alloc(0)

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', (error) => this.#failed(error))
    socket.on('close', () => this.#failed(new Error('the server closed the connection')))
  }

  static async open(port: number): Promise<Line> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new Line(socket)
  }

  exchange(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#done = resolve
      this.#failed = reject
      this.#socket.write(bytes)
    })
  }

  close(): void {
    this.#failed = () => {}
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    if (this.#missing === undefined) {
      this.#seen = this.#seen.length === 0 ? chunk : Buffer.concat([this.#seen, chunk])
      const end = this.#seen.indexOf('\r\n\r\n')
      if (end === -1) return
      const head = this.#seen.toString('latin1', 0, end)
      if (!/^HTTP\/1\.1 20[014] /.test(head)) throw new Error(`unexpected response: ${head}`)
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
      const body = this.#seen.subarray(end + 4)
      this.#missing = length === undefined && / chunked/i.test(head) ? -1 : Number(length ?? 0) - body.length
      this.#seen = body
    } else if (this.#missing > 0) this.#missing -= chunk.length
    else this.#seen = chunk
    const over = this.#missing === -1 ? this.#seen.subarray(-5).equals(LAST_CHUNK) : this.#missing === 0
    if (!over) return
    this.#missing = undefined
    this.#seen = Buffer.alloc(0)
    this.#done()
  }
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n')
