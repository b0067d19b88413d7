import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { CommandFailed, command, SANDBOX_OPTIONS, type SandboxInvocation } from './command.ts'
import { ask } from './control-client.ts'
import type { OptionValues } from './options.ts'
import { cell, columns, objectsOf, show } from './print.ts'

const FILTERS = ['operation', 'method', 'path', 'status', 'idempotencyKey', 'since', 'limit'] as const

export const requests = command({
  name: 'requests',
  description: 'List the newest API requests that the log has',
  options: [...SANDBOX_OPTIONS, ...FILTERS],
  help: {
    status: { description: 'only requests with this status, such as 429, or of this class, such as 4xx' },
  },
  run: async (invocation) => {
    const body = await ask(invocation.options, 'GET', `/requests${queryOf(invocation.options)}`)
    const rows = objectsOf(body.data).map(({ id, at, status, method, path, operation, error }) =>
      [id, at, status, `${method} ${path}`, operation, isObject(error) ? error.code : null].map(cell),
    )
    const head = ['ID', 'AT', 'STATUS', 'REQUEST', 'OPERATION', 'ERROR']
    const table = rows.length === 0 ? ['No request in the log matches.'] : columns([head, ...rows])
    return show(invocation, body, [...table, ...notListed(body, rows.length)])
  },
})

export const explain = command({
  name: 'explain',
  description: 'Explain the response to an API request; without an id, to the latest one',
  args: [
    { name: '[request-id]', description: 'as the header X-Emulator-Request-Id of the response names it' },
  ],
  options: SANDBOX_OPTIONS,
  run: async (invocation) => {
    const [id = await latest(invocation)] = invocation.args
    const body = await ask(invocation.options, 'GET', `/explain/${encodeURIComponent(id)}`)
    return show(invocation, body, explainLines(body))
  },
})

async function latest({ options }: SandboxInvocation): Promise<string> {
  const { data } = await ask(options, 'GET', '/requests?limit=1')
  const id = objectsOf(data).at(-1)?.id
  if (typeof id === 'string') return id
  throw new CommandFailed(
    `No API request is in the log of the sandbox ${options.sandbox ?? 'default'}. Make one, or name another sandbox with --sandbox.`,
  )
}

function queryOf(options: OptionValues<(typeof FILTERS)[number]>): string {
  const query = new URLSearchParams()
  for (const name of FILTERS) {
    const value = options[name]
    if (value !== undefined) query.set(name === 'idempotencyKey' ? 'idempotency_key' : name, String(value))
  }
  return query.size === 0 ? '' : `?${query}`
}

function notListed({ matched, capacity, dropped }: JsonObject, shown: number): string[] {
  const more = typeof matched === 'number' && matched > shown
  const gone = typeof dropped === 'number' && dropped > 0
  return [
    ...(more ? [`The newest ${shown} of ${matched} that match; --limit shows more.`] : []),
    ...(gone ? [`The log keeps ${capacity} requests; ${dropped} older ones are gone.`] : []),
  ]
}

/** Characters of a value in a patch line; `--json` has all of them. */
const MAX_VALUE = 100

/** The trace of a request in lines, the summary first. Absent fields are left out. */
function explainLines(trace: JsonObject): string[] {
  const { request, sandbox, route, limiter, idempotency, caller, specification } = trace
  return [
    ...text(trace.summary),
    '',
    ...fact('Request', isObject(request) ? `${request.id} at ${request.at}` : undefined),
    ...fact('Sandbox', isObject(sandbox) ? `${sandbox.name}. ${sandbox.description}` : undefined),
    ...fact('Operation', isObject(route) ? operationOf(route) : undefined),
    ...fact('Specified', specification),
    ...fact('Caller', isObject(caller) ? callerOf(caller) : undefined),
    ...fact('Rate limit', isObject(limiter) ? limiter.description : undefined),
    ...fact('Idempotency', isObject(idempotency) ? idempotency.description : undefined),
    ...section('Steps', stepLines(objectsOf(trace.steps), isObject(trace.error))),
    ...section('Error', isObject(trace.error) ? errorLines(trace.error) : []),
    ...section('Faults', objectsOf(trace.faults).map(faultLine)),
    ...section('Changes', objectsOf(trace.changes).flatMap(changeLines)),
    ...section('Scheduled', objectsOf(trace.scheduled).map(eventLine)),
    ...section('Not scheduled any more', objectsOf(trace.unscheduled).map(eventLine)),
    ...section('Webhooks', objectsOf(trace.deliveries).map(deliveryLine)),
    ...section('Assumptions', objectsOf(trace.assumptions).flatMap(assumptionLines)),
  ]
}

function fact(name: string, value: Json | undefined): string[] {
  return text(value).map((line) => `${name.padEnd(13)}${line}`)
}

function section(name: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', name, ...lines.map((line) => `  ${line}`)]
}

function text(value: Json | undefined): string[] {
  return typeof value === 'string' && value !== '' ? [value] : []
}

function operationOf({ operation, method, path, near_misses }: JsonObject): string {
  if (typeof operation === 'string') return `${operation}: ${method} ${path}`
  const near = Array.isArray(near_misses) ? near_misses.map(String) : []
  return near.length === 0 ? 'none' : `none; the nearest: ${near.join('; ')}`
}

function callerOf({ kind, key_id, teamspace_id, user_id }: JsonObject): string {
  const user = typeof user_id === 'string' ? ` for ${user_id}` : ''
  return `${kind} key ${key_id} in teamspace ${teamspace_id}${user}`
}

function stepLines(steps: readonly JsonObject[], isRefused: boolean): string[] {
  const decided = isRefused ? '✗' : '●'
  const reached = steps.filter(({ outcome }) => outcome !== 'not reached')
  const others = steps.filter((step) => !reached.includes(step)).map(({ step }) => step)
  return [
    ...reached.map(
      ({ step, outcome, description = '' }) =>
        `${outcome === 'decided' ? decided : '✓'} ${String(step).padEnd(16)}${description}`,
    ),
    ...(others.length === 0 ? [] : [`· not reached: ${others.join(', ')}`]),
  ]
}

function errorLines({ code, status, mitigation, issues, issues_total }: JsonObject): string[] {
  const shown = objectsOf(issues)
  const more = typeof issues_total === 'number' ? issues_total - shown.length : 0
  return [
    `${status} ${code}`,
    ...shown.map(({ pointer, detail }) => `${pointer || '/'}: ${detail}`),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...text(mitigation),
  ]
}

function faultLine({ rule, fired, description, actions, sent }: JsonObject): string {
  const did = Array.isArray(actions) && actions.length > 0 ? ` Did: ${actions.join(', ')}.` : ''
  const came = isObject(sent) ? ` The response was sent up to ${sent.stage}, ${sent.bytes} bytes.` : ''
  return `${fired === true ? '✗' : '·'} ${rule}: ${description}${did}${came}`
}

function changeLines({ ref, action, step, patch }: JsonObject): string[] {
  const by = typeof step === 'string' && step !== 'handle' ? `, by the step ${step}` : ''
  return [`${ref} ${action}${by}`, ...objectsOf(patch).map((operation) => `  ${patchLine(operation)}`)]
}

function patchLine({ op, path, value }: JsonObject): string {
  const place = path === '' ? '(all)' : path
  return value === undefined ? `${op} ${place}` : `${op} ${place} ${shortened(JSON.stringify(value))}`
}

function shortened(json: string): string {
  return json.length > MAX_VALUE ? `${json.slice(0, MAX_VALUE)}…` : json
}

function eventLine({ at, kind, ref, description, instead_of }: JsonObject): string {
  const moved = typeof instead_of === 'string' ? ` (moved from ${instead_of})` : ''
  return `${at}  ${description ?? kind} [${ref}]${moved}`
}

function deliveryLine({ type, url, about, faults }: JsonObject): string {
  const rules = Array.isArray(faults) ? `, faulted by ${faults.join(', ')}` : ''
  return `${type} about ${about}, to ${url}${rules}`
}

function assumptionLines({ id, open, decision, settings }: JsonObject): string[] {
  const choices = objectsOf(settings).map(
    ({ key, value }) => `${key} = ${shortened(JSON.stringify(value ?? null))}`,
  )
  return [`${id}  ${open}`, `      ${decision}`, ...choices.map((choice) => `      ${choice}`)]
}
