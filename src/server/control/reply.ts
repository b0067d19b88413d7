import type { ServerResponse } from 'node:http'
import { Settings } from '../../core/assumptions.ts'
import { defect, errorFacts, Refusal, standardBody } from '../../core/errors.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { replyStatus } from './call.ts'
import type { ControlHost } from './host.ts'
import type { ControlReply } from './route.ts'

type Headers = readonly (readonly [string, string])[]

/** Headers of every response: no caching, no use by pages of other sites or in frames, no guessing of content types. */
const ALWAYS: Headers = [
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Content-Security-Policy', "frame-ancestors 'none'"],
  ['X-Frame-Options', 'DENY'],
]

// The control interface has fixed statuses: settings about statuses of the emulated API do not change them.
const OWN_STATUSES = new Settings()

/** Writes a successful response. Its header `Date` is the virtual time of the sandbox. */
export function reply(sandbox: Sandbox, res: ServerResponse, response: ControlReply): void {
  writeHead(sandbox, res, replyStatus(response), response.etag === undefined ? [] : [['ETag', response.etag]])
  if (response.stream === undefined) writeBody(res, response.body)
  else response.stream(res)
}

/** Writes a refusal. */
export function replyRefusal(sandbox: Sandbox, res: ServerResponse, refusal: Refusal): void {
  const { status, body } = refused(refusal)
  writeHead(sandbox, res, status, refusal.options.headers)
  writeBody(res, body)
}

/** A refusal as status and standard error body. */
export function refused(refusal: Refusal): { readonly status: number; readonly body: object } {
  const facts = errorFacts(refusal, OWN_STATUSES)
  return { status: facts.status, body: standardBody(refusal, facts, OWN_STATUSES) }
}

/** Any error as a refusal. The details of an unexpected error are reported only to the host, not to the client. */
export function asRefusal(host: ControlHost, error: unknown): Refusal {
  if (error instanceof Refusal) return error
  host.onDefect(error)
  return defect()
}

function writeHead(sandbox: Sandbox, res: ServerResponse, status: number, headers: Headers = []): void {
  for (const [name, value] of [...ALWAYS, ...headers]) res.setHeader(name, value)
  res.setHeader('Date', new Date(sandbox.clock.now).toUTCString())
  res.statusCode = status
}

function writeBody(res: ServerResponse, body: object | undefined): void {
  if (body === undefined) {
    res.end()
    return
  }
  // Not a text: Node would keep a waiting text twice, the second time joined to the head.
  const bytes = Buffer.from(JSON.stringify(body))
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.setHeader('Content-Length', bytes.length)
  res.end(bytes)
}
