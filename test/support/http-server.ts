import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { close, createHttpServer, listen, type RawResponse } from '../../src/server/http/server.ts'
import type { WireProblem } from '../../src/server/http/wire-problem.ts'

export const RATE_HEADERS = [
  ['X-RateLimit-Limit', '200'],
  ['X-RateLimit-Remaining', '200'],
  ['X-RateLimit-Reset', '60'],
] as const

/** The standard error body, as the caller of this module renders it. */
function rendered({ status, code, detail }: WireProblem): RawResponse {
  const about = { error: code, message: detail, retryable: status === 408 }
  const body = { status_code: status, statusCode: status, ...about }
  const type = ['Content-Type', 'application/json; charset=utf-8'] as const
  return { headers: [...RATE_HEADERS, type], body: JSON.stringify({ ...body, details: {} }) }
}

function refuse(_req: IncomingMessage, res: ServerResponse, problem: WireProblem): void {
  const { headers, body } = rendered(problem)
  res.writeHead(problem.status, headers.flat())
  res.end(body)
}

export const echoUrl: RequestListener = (req, res) => {
  req.resume()
  res.end(req.url)
}

export async function serving(listener: RequestListener = echoUrl, limits: ServerOptions = {}) {
  const server = createHttpServer(listener, { renderParserError: rendered, refuse, limits })
  onTestFinished(() => close(server, { graceful: false }))
  const { port } = await listen(server, { port: 0, host: '127.0.0.1' })
  return { server, port }
}

export async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  // Many of these connections are reset on purpose.
  socket.on('error', () => {})
  onTestFinished(() => {
    socket.destroy()
  })
  await once(socket, 'connect')
  return socket
}

/** Everything that is received until the connection ends. */
export function everything(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    socket.on('close', () => resolve(text))
  })
}

export async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const socket = await connected(port)
  const response = everything(socket)
  socket.write(bytes)
  return response
}

/** Asserts one raw response with this status, the rate-limit headers and the standard body; returns the body. */
export function rawResponse(text: string, status: number): { error: string; message: string } {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  expect(head.split('\r\n')[0]).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`))
  expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
  for (const [name, value] of RATE_HEADERS) expect(head).toContain(`\r\n${name}: ${value}`)
  expect(head).toContain('\r\nConnection: close')
  expect(head).toContain(`\r\nContent-Length: ${Buffer.byteLength(body)}`)
  expect(text).not.toMatch(/<html|<!doctype|node:|node_modules|\bat \//i)
  const parsed = JSON.parse(body) as { status_code: number; error: string; message: string }
  expect(parsed.status_code).toBe(status)
  return parsed
}

export const HOST = 'Host: localhost\r\n'
