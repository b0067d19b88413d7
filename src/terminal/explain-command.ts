import type { RequestTrace } from '../core/explain/trace.ts'
import { isOn, sandboxCommand } from './call-command.ts'
import { CommandFailed } from './command.ts'
import { type Line, styled } from './line.ts'
import { SHARED } from './options.ts'
import { shortened, show } from './print.ts'

export const explainCommands = [
  sandboxCommand('explain', {
    description: 'Explain the response to an API request; without an id, to the latest one',
    args: { '[request-id]': 'from the header X-Emulator-Request-Id of the response' },
    options: { stable: SHARED.stable },
    run: async (ask, invocation) => {
      const { sandbox = 'default', stable } = invocation.options
      const latest = () => ask('GET /requests', { query: { limit: '1' } })
      const request_id = invocation.args[0] ?? (await latest()).data.at(-1)?.id
      if (request_id === undefined)
        throw new CommandFailed(
          `No API request is in the log of the sandbox ${sandbox}. Send one, or name another sandbox with --sandbox.`,
        )
      const given = { params: { request_id }, query: { stable: isOn(stable) } }
      const body = await ask('GET /explain/{request_id}', given)
      return show(invocation, body, explainLines(body))
    },
  }),
]

/** The trace of a request in lines, the summary first. Absent fields are left out. */
export function explainLines(trace: RequestTrace): Line[] {
  const { request, sandbox, route, limiter, idempotency, caller, specification, error, cors, unread_query } =
    trace
  return [
    trace.summary,
    '',
    ...fact('Request', `${request.id} at ${request.at}`),
    ...fact('Sandbox', `${sandbox.name}. ${sandbox.description}`),
    ...fact('Operation', operationOf(route)),
    ...(unread_query ?? []).flatMap(({ description }) => fact('Not read', description)),
    ...fact('Specified', specification),
    ...fact('Caller', caller === null ? null : callerOf(caller)),
    ...fact('Trace', trace.trace ?? null),
    ...fact('Rate limit', limiter.description),
    ...fact('Idempotency', idempotency.description),
    ...section('Steps', stepLines(trace.steps, error !== null)),
    ...section('Error', error === null ? [] : errorLines(error)),
    ...section('Browser', cors === undefined ? [] : [cors.mitigation]),
    ...section('Response', trace.response === null ? [] : bodyLines(trace.response)),
    ...section('Faults', trace.faults.map(faultLine)),
    ...section('Changes', trace.changes.flatMap(changeLines)),
    ...section('Scheduled', trace.scheduled.map(eventLine)),
    ...section('Not scheduled any more', trace.unscheduled.map(eventLine)),
    ...section('Webhooks', trace.deliveries.map(deliveryLine)),
    ...section('Assumptions', trace.assumptions.flatMap(assumptionLines)),
  ]
}

function fact(name: string, value: string | null): Line[] {
  return value ? [[styled('dim', name.padEnd(13)), value]] : []
}

function section(name: string, lines: readonly string[]): Line[] {
  return lines.length === 0 ? [] : ['', styled('bold', name), ...lines.map(marked)]
}

const MARKS = { '✓': 'green', '●': 'green', '✗': 'red' } as const

/** A line of a section; the mark at its start has a colour. */
function marked(line: string): Line {
  const [mark = ''] = line
  return mark in MARKS ? ['  ', styled(MARKS[mark as keyof typeof MARKS], mark), line.slice(1)] : `  ${line}`
}

function operationOf({ operation, method, path, near_misses: near }: RequestTrace['route']): string {
  if (operation !== null) return `${operation}: ${method} ${path}`
  return near.length === 0 ? 'none' : `none; the nearest: ${near.join('; ')}`
}

function callerOf(caller: NonNullable<RequestTrace['caller']>): string {
  const { kind, key_id, teamspace_id, user_id } = caller
  const user = user_id === null ? '' : ` for ${user_id}`
  return `${kind} key ${key_id} in teamspace ${teamspace_id}${user}`
}

function stepLines(steps: RequestTrace['steps'], isRefused: boolean): string[] {
  const decided = isRefused ? '✗' : '●'
  const reached = steps.filter(({ outcome }) => outcome !== 'not reached')
  const others = steps.filter((step) => !reached.includes(step)).map(({ step }) => step)
  return [
    ...reached.map(
      ({ step, outcome, description }) =>
        `${outcome === 'decided' ? decided : '✓'} ${step.padEnd(16)}${description}`,
    ),
    ...(others.length === 0 ? [] : [`· not reached: ${others.join(', ')}`]),
  ]
}

type Refused = NonNullable<RequestTrace['error']>

function errorLines({ code, status, mitigation, issues, issues_total }: Refused): string[] {
  const more = issues_total - issues.length
  return [
    `${status} ${code}`,
    ...issues.map(({ pointer, detail }) => `${pointer || '/'}: ${detail}`),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(mitigation ? [mitigation] : []),
  ]
}

/** Maximum number of characters of a body in the explanation; `--json` has all that the log keeps. */
const MAX_BODY = 1_000

/** The size and type of a response body, and its text if the log has kept it. */
export function bodyLines({ headers, body, body_bytes }: NonNullable<RequestTrace['response']>): string[] {
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value
  const about = type ? `${body_bytes} bytes of ${type}` : `${body_bytes} bytes`
  if (body === null) return body_bytes === 0 ? [] : [`${about}, not kept any more`]
  const shown = body.length > MAX_BODY ? `${body.slice(0, MAX_BODY)}…` : body
  // Unwrapped, one line of JSON fills the screen.
  return [about, ...(shown.trimEnd().match(/.{1,100}/gu) ?? [])]
}

function faultLine({ rule, fired, description, actions, sent }: RequestTrace['faults'][number]): string {
  const did = actions.length > 0 ? ` Did: ${actions.join(', ')}.` : ''
  const came = sent === null ? '' : ` The response was sent up to ${sent.stage}, ${sent.bytes} bytes.`
  return `${fired ? '●' : '·'} ${rule}: ${description}${did}${came}`
}

function changeLines({ ref, action, step, patch }: RequestTrace['changes'][number]): string[] {
  const by = step === 'handle' ? '' : `, by the step ${step}`
  const lines = patch.map((change) => {
    const line = `  ${change.op} ${change.path || '(all)'}`
    return 'value' in change ? `${line} ${shortened(JSON.stringify(change.value))}` : line
  })
  return [`${ref} ${action}${by}`, ...lines]
}

function eventLine({ at, ref, description, instead_of }: RequestTrace['scheduled'][number]): string {
  const moved = instead_of === undefined ? '' : ` (moved from ${instead_of})`
  return `${at}  ${description} [${ref}]${moved}`
}

function deliveryLine({ type, url, about, faults }: RequestTrace['deliveries'][number]): string {
  const rules = faults === undefined ? '' : `, faulted by ${faults.join(', ')}`
  return `${type} about ${about}, to ${url}${rules}`
}

function assumptionLines({ id, open, decision, settings }: RequestTrace['assumptions'][number]): string[] {
  const choices = settings.map(({ key, value }) => `${key} = ${shortened(JSON.stringify(value ?? null))}`)
  return [`${id}  ${open}`, `      ${decision}`, ...choices.map((choice) => `      ${choice}`)]
}
