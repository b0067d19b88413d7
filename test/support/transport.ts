import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import request, { type Response as SuperResponse } from 'supertest'
import type { RunningEmulator } from '../../src/emulator.ts'

/** How requests of the tests reach the API. */
export type TransportName = 'socket' | 'express'

let transport: TransportName = process.env.TEST_TRANSPORT === 'express' ? 'express' : 'socket'

/** From now on requests of the tests of this worker go this way. @returns what puts the former way back */
export function useTransport(next: TransportName): () => void {
  const former = transport
  transport = next
  return () => {
    transport = former
  }
}

/** Sends one request and gives its response. */
export type Send = (path: string, init: RequestInit & { readonly method: string }) => Promise<Response>

/** Over a socket to node:http, or by supertest to the Express application that other applications mount. */
export function transportTo(emulator: RunningEmulator): Send {
  if (transport === 'socket')
    return (path, init) => fetch(emulator.url + path, { redirect: 'manual', ...init })
  let server: Promise<Server> | undefined
  return async (path, init) => {
    server ??= emulator.app().then(listening)
    return throughExpress(await server, path, init)
  }
}

// supertest would listen anew for every request, and URLs in responses have the port. No test waits for its end.
async function listening(app: RequestListener): Promise<Server> {
  const server = createServer(app).listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  return server
}

async function throughExpress(
  server: Server,
  path: string,
  { method, headers = {}, body }: Parameters<Send>[1],
): Promise<Response> {
  const name = method.toLowerCase() as 'get'
  const sent = request(server)[name](path).redirects(0).buffer(true).parse(asBytes).serialize(asItIs)
  for (const [header, value] of new Headers(headers)) sent.set(header, value)
  const response = await sent
    .send(body === undefined ? undefined : Buffer.from(body as string))
    // As fetch says it.
    .catch((cause: unknown) => Promise.reject(new TypeError('fetch failed', { cause })))
  return new Response(response.status === 204 ? null : new Uint8Array(response.body), {
    status: response.status,
    headers: Object.entries(response.headers as Record<string, string | string[]>).flatMap(
      ([header, value]) => [value].flat().map((each) => [header, each] as [string, string]),
    ),
  })
}

// superagent would write a body of this type as JSON once more.
function asItIs(body: unknown): string {
  return body as string
}

function asBytes(response: SuperResponse, done: (error: Error | null, body: Buffer) => void): void {
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  response.on('end', () => done(null, Buffer.concat(chunks)))
}
