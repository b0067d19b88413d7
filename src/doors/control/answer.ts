import type { ServerResponse } from 'node:http'
import { Settings } from '../../kernel/assumptions.ts'
import { defect, errorFacts, Refusal, standardBody } from '../../kernel/errors.ts'
import type { ControlHost } from './host.ts'
import type { ControlReply } from './route.ts'

type Headers = readonly (readonly [string, string])[]

/** On every answer: nothing here is for caches, for other sites' pages, or for guessing at. */
const ALWAYS: Headers = [
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
]

// Statuses of this interface are its own: the settings about those of the emulated API do not move them.
const OWN_STATUSES = new Settings()

/** Writes a successful answer. */
export function reply(host: ControlHost, res: ServerResponse, { status = 200, body }: ControlReply): void {
  write(host, res, body === undefined && status === 200 ? 204 : status, body, [])
}

/** Writes a refusal in the standard error body. */
export function fail(host: ControlHost, res: ServerResponse, refusal: Refusal): void {
  const facts = errorFacts(refusal, OWN_STATUSES)
  write(host, res, facts.status, standardBody(refusal, facts, OWN_STATUSES), refusal.options.headers ?? [])
}

/** What is said until the world is loaded. */
export function failNotReady(host: ControlHost, res: ServerResponse): void {
  const refusal = new Refusal('internal_error', {
    detail: 'The world is not loaded yet.',
    mitigation: 'GET /__emulator/ready answers 200 when it is.',
  })
  const kind = { title: 'Not Ready', status: 503, retryable: true }
  const body = standardBody(refusal, { kind, status: 503, assumed: [] }, OWN_STATUSES)
  write(host, res, 503, { ...body, error: 'not_ready' }, [['Retry-After', '1']])
}

/** Any error as what the client is told. What nobody has foreseen is told to the host alone. */
export function asRefusal(host: ControlHost, error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof URIError) {
    return new Refusal('bad_request', {
      detail: 'The path has a percent sign that encodes nothing in UTF-8.',
      mitigation: 'Write a percent sign as %25.',
    })
  }
  host.onSurprise(error)
  return defect()
}

function write(
  host: ControlHost,
  res: ServerResponse,
  status: number,
  body: object | undefined,
  headers: Headers,
): void {
  for (const [name, value] of [...ALWAYS, ...headers]) res.setHeader(name, value)
  if (host.ready()) res.setHeader('Date', new Date(host.sandbox().clock.now).toUTCString())
  res.statusCode = status
  if (body === undefined) {
    res.end()
    return
  }
  const text = JSON.stringify(body)
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.setHeader('Content-Length', Buffer.byteLength(text))
  res.end(text)
}
