import { isObject, type Json, type JsonObject } from '../../kernel/json.ts'
import { objectsOf } from './print.ts'

/** Characters of a value in a patch line; `--json` has all of them. */
const MOST = 100

/** The story of a request in lines, the short version first. Members that the answer lacks are left out. */
export function explainLines(trace: JsonObject): string[] {
  const { request, sandbox, route, limiter, idempotency, caller, specification } = trace
  return [
    ...text(trace.summary),
    '',
    ...fact('Request', isObject(request) ? `${request.id} at ${request.at}` : undefined),
    ...fact('Sandbox', isObject(sandbox) ? `${sandbox.name}. ${sandbox.says}` : undefined),
    ...fact('Operation', isObject(route) ? operationOf(route) : undefined),
    ...fact('Specified', specification),
    ...fact('Caller', isObject(caller) ? callerOf(caller) : undefined),
    ...fact('Rate limit', isObject(limiter) ? limiter.says : undefined),
    ...fact('Idempotency', isObject(idempotency) ? idempotency.says : undefined),
    ...section('Way', wayLines(objectsOf(trace.steps), isObject(trace.error))),
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

function wayLines(steps: readonly JsonObject[], isRefused: boolean): string[] {
  const decided = isRefused ? '✗' : '●'
  const reached = steps.filter(({ outcome }) => outcome !== 'not reached')
  const others = steps.filter((step) => !reached.includes(step)).map(({ step }) => step)
  return [
    ...reached.map(
      ({ step, outcome, says = '' }) =>
        `${outcome === 'decided' ? decided : '✓'} ${String(step).padEnd(16)}${says}`,
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

function faultLine({ rule, fired, says, actions, sent }: JsonObject): string {
  const did = Array.isArray(actions) && actions.length > 0 ? ` Did: ${actions.join(', ')}.` : ''
  const came = isObject(sent) ? ` The answer came as far as ${sent.stage}, ${sent.bytes} bytes.` : ''
  return `${fired === true ? '✗' : '·'} ${rule}: ${says}${did}${came}`
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
  return json.length > MOST ? `${json.slice(0, MOST)}…` : json
}

function eventLine({ at, kind, ref, says, instead_of }: JsonObject): string {
  const moved = typeof instead_of === 'string' ? ` (moved from ${instead_of})` : ''
  return `${at}  ${says ?? kind} [${ref}]${moved}`
}

function deliveryLine({ type, url, about, faults }: JsonObject): string {
  const rules = Array.isArray(faults) ? `, faulted by ${faults.join(', ')}` : ''
  return `${type} about ${about}, to ${url}${rules}`
}

function assumptionLines({ id, open, reading, settings }: JsonObject): string[] {
  const choices = objectsOf(settings).map(
    ({ key, value }) => `${key} = ${shortened(JSON.stringify(value ?? null))}`,
  )
  return [`${id}  ${open}`, `      ${reading}`, ...choices.map((choice) => `      ${choice}`)]
}
