import { isObject, type JsonObject } from '../../kernel/json.ts'
import { ask } from './control-client.ts'
import { explainLines } from './explain-lines.ts'
import type { Invocation, REQUESTS_OPTIONS, SandboxInvocation } from './invocation.ts'
import { cell, columns, objectsOf, show } from './print.ts'
import { CommandFailed } from './usage.ts'

type RequestsInvocation = Invocation<(typeof REQUESTS_OPTIONS)[number]>

/** `requests`: the newest API requests of the sandbox, in order of arrival. */
export async function requests(invocation: RequestsInvocation): Promise<number> {
  const body = await ask(invocation.options, 'GET', `/requests${queryOf(invocation.options)}`)
  const rows = objectsOf(body.data).map(({ id, at, status, method, path, operation, error }) =>
    [id, at, status, `${method} ${path}`, operation, isObject(error) ? error.code : null].map(cell),
  )
  const head = ['ID', 'AT', 'STATUS', 'REQUEST', 'OPERATION', 'ERROR']
  const table = rows.length === 0 ? ['No request is in the log that fits.'] : columns([head, ...rows])
  return show(invocation, body, [...table, ...missing(body, rows.length)])
}

/** `explain`: why a request was answered as it was; the latest one when none is named. */
export async function explain(invocation: SandboxInvocation): Promise<number> {
  const [id = await latest(invocation)] = invocation.args
  const body = await ask(invocation.options, 'GET', `/explain/${encodeURIComponent(id)}`)
  return show(invocation, body, explainLines(body))
}

async function latest({ options }: SandboxInvocation): Promise<string> {
  const { data } = await ask(options, 'GET', '/requests?limit=1')
  const id = objectsOf(data).at(-1)?.id
  if (typeof id === 'string') return id
  throw new CommandFailed(
    `No API request is in the log of the sandbox ${options.sandbox ?? 'default'}. Make one, or name another sandbox with --sandbox.`,
  )
}

function queryOf(options: RequestsInvocation['options']): string {
  const { operation, method, path, status, idempotencyKey, since, limit } = options
  const filters = { operation, method, path, status, idempotency_key: idempotencyKey, since, limit }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, String(value))
  return query.size === 0 ? '' : `?${query}`
}

function missing({ matched, capacity, dropped }: JsonObject, shown: number): string[] {
  const more = typeof matched === 'number' && matched > shown
  const gone = typeof dropped === 'number' && dropped > 0
  return [
    ...(more ? [`The newest ${shown} of ${matched} that fit; --limit shows more.`] : []),
    ...(gone ? [`The log keeps ${capacity} requests; ${dropped} older ones are gone.`] : []),
  ]
}
