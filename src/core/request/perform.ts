import type * as z from 'zod'
import { limitClock, pathKey } from '../core-assumptions.ts'
import {
  type ErrorCode,
  type ErrorFormat,
  isStorageFailure,
  Refusal,
  refuse,
  refuseInvalid,
} from '../errors.ts'
import { actOnKey } from '../faults/acts/auth.ts'
import { passTime } from '../faults/acts/clock.ts'
import { quotaOf, refuseByQuota } from '../faults/acts/quota.ts'
import { replacesHandler } from '../faults/acts/respond.ts'
import { moveSandbox } from '../faults/acts/state.ts'
import type { Decision, Sent } from '../faults/decision.ts'
import type { Issue } from '../json.ts'
import type { AnyOperation, Poll } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { END_OF_TIME } from '../time/clock.ts'
import { advanceTo, nextEventOf, runDueEvents, runEvents } from '../time/run-events.ts'
import type { AdvanceResult } from '../time/scheduler.ts'
import { REQUIRED, zodIssues } from '../zod-issues.ts'
import { type Answer, conclude } from './answer.ts'
import { type Caller, teamspaceHeader } from './auth.ts'
import type { Call, Exchange } from './exchange.ts'
import { decide, mayInterfere } from './interfere.ts'
import { noWindow } from './rate-limiter.ts'
import { recall, remember } from './recall.ts'
import type { Step } from './steps.ts'

/** The whole way of a request. Every step either lets it pass or throws a refusal; `conclude` always runs. */
export function perform(sandbox: Sandbox, call: Call): Answer {
  const exchange = sandbox.exchange(call)
  try {
    step(exchange, 'runDueEvents', () => catchUp(sandbox, exchange))
    exchange.decision = decided(sandbox, call)
    step(exchange, 'authenticate', () => identify(sandbox, exchange))
    step(exchange, 'rateLimit', () => admit(sandbox, exchange))
    step(exchange, 'checkPathIds', () => call.operation.checkPathIds?.(call.params))
    step(exchange, 'authorize', () => authorize(sandbox, exchange))
    if (!step(exchange, 'faultsBefore', () => interfere(sandbox, exchange))) serve(sandbox, exchange)
  } catch (error) {
    exchange.refusal = error instanceof Refusal ? error : sandbox.reportDefect(error)
  }
  return conclude(sandbox, exchange)
}

function serve(sandbox: Sandbox, exchange: Exchange): void {
  step(exchange, 'loadTarget', () => find(exchange))
  // Before the body is judged: a repeated request gets its first answer even when it would be refused by now, and
  // another body under the same key is a conflict whether or not it is valid.
  if (!step(exchange, 'replay', () => recall(exchange))) {
    step(exchange, 'validate', () => understand(sandbox, exchange))
    step(exchange, 'poll', () => poll(sandbox, exchange))
    step(exchange, 'handle', () => handle(exchange))
    step(exchange, 'commit', () => remember(sandbox, exchange))
  }
  step(exchange, 'faultsAfter', () => interfereAfter(sandbox, exchange))
}

/**
 * Logs a request that a fault cut off before its handler. One that came as far as that has had its place in the rate window;
 * one whose body has not been read uses up nothing.
 */
export function cutOff(sandbox: Sandbox, call: Call, sent: Sent): void {
  const exchange = sandbox.exchange(call)
  try {
    if (sent.stage === 'before-handler') arrive(sandbox, exchange)
  } catch {
    // Nobody is told any more why it would have been refused.
  }
  exchange.step = 'faultsBefore'
  exchange.injected = true
  if (exchange.decision !== undefined) exchange.decision.sent = sent
  const untouched = noWindow(sandbox.limitOf(call.operation.name), sandbox.limiterNow())
  sandbox.record(exchange, 0, exchange.window?.admission ?? untouched)
}

function arrive(sandbox: Sandbox, exchange: Exchange): void {
  catchUp(sandbox, exchange)
  identify(sandbox, exchange)
  admit(sandbox, exchange)
}

/** A request that never became a call, as far as its adapter knows it. */
export interface Unrouted
  extends Pick<Call, 'method' | 'path' | 'chosenBy'>,
    Partial<Pick<Call, 'pathPrefix' | 'query' | 'headers' | 'connection' | 'armed' | 'decision'>> {
  readonly errorFormat: ErrorFormat
  /** `METHOD /template` of the operations that come nearest. */
  readonly nearest?: readonly string[]
}

/**
 * An answer to a request that never became a call: an unknown route, a wrong method, a body that a parser refused. Fault
 * rules have a say where it is only the route that is missing, so that they can answer what the service does not know.
 */
export function turnAway(sandbox: Sandbox, request: Unrouted, refusal: Refusal): Answer {
  const { errorFormat, nearest = [], ...known } = request
  const exchange = sandbox.exchange({ ...EMPTY_CALL, ...known, operation: { ...NOWHERE, errorFormat } })
  const ofRouting = OF_ROUTING.has(refusal.code)
  try {
    catchUp(sandbox, exchange)
    if (ofRouting) exchange.decision = decided(sandbox, exchange.call)
  } catch {
    // What keeps events from happening, or matches from being counted, has no part in this answer.
  }
  exchange.nearest = nearest
  exchange.step = ofRouting ? 'route' : 'receive'
  exchange.refusal = refusal
  return conclude(sandbox, exchange)
}

// An adapter that has to act before there is an answer has asked already.
function decided(sandbox: Sandbox, call: Call): Decision | undefined {
  if (call.decision !== undefined || !mayInterfere(sandbox, call.operation)) return call.decision
  const early = decide(sandbox, call, 'head')
  return decide(sandbox, early === undefined ? call : { ...call, decision: early }, 'call')
}

function step<T>(exchange: Exchange, name: Step, work: () => T): T {
  exchange.step = name
  return work()
}

// What is due by now has happened before anybody looks at the request, or the request is served at the time reached.
function catchUp(sandbox: Sandbox, exchange: Exchange): void {
  ifWritable(exchange, () => {
    exchange.caughtUp = eventsIn(runDueEvents(sandbox))
  })
  exchange.now = sandbox.clock.now
}

// A read shows the sandbox as it is when what should come before it cannot be written.
function ifWritable({ call }: Exchange, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (call.operation.method !== 'GET' || !isStorageFailure(error)) throw error
  }
}

function eventsIn({ events, failed }: AdvanceResult): number {
  return events.length + failed.length
}

function identify(sandbox: Sandbox, exchange: Exchange): void {
  const { headers } = exchange.call
  const caller = authenticate(sandbox, exchange)
  const header = exchange.settings.get(teamspaceHeader)
  const chosen = header === null ? undefined : headers[header.toLowerCase()]
  exchange.caller = chosen === undefined ? caller : { ...caller, teamspace_id: chosen }
  const isTheirs = chosen === undefined || isWelcome(sandbox, exchange)
  exchange.windowOf = isTheirs ? exchange.caller.teamspace_id : caller.teamspace_id
}

function authenticate(sandbox: Sandbox, exchange: Exchange): Caller {
  const { call, settings, decision } = exchange
  const caller = sandbox.authenticator.identify(call.headers.authorization, settings)
  if (decision === undefined) return caller
  // Known to the log also when the key is refused.
  exchange.caller = caller
  return actOnKey(sandbox, exchange, caller, decision)
}

// Anyone who may not act in a teamspace must not use up its windows either.
function isWelcome(sandbox: Sandbox, exchange: Exchange): boolean {
  try {
    authorize(sandbox, exchange)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

function admit(sandbox: Sandbox, exchange: Exchange): void {
  const { operation, path, pathPrefix } = exchange.call
  const own = path.slice(pathPrefix.length)
  const place = exchange.settings.get(pathKey) === 'template' ? operation.name : `${operation.method} ${own}`
  const limit = sandbox.limitOf(operation.name)
  const key = `${exchange.windowOf} ${place}`
  const now = sandbox.limiterNow()
  const quota = exchange.decision && quotaOf(exchange.decision)
  if (quota?.reject === true) {
    const found = sandbox.limiter.peek(key, limit, now)
    refuseByQuota(quota, { operation: operation.name, limit, found, now })
  }
  const admission = sandbox.limiter.admit(key, limit, now, sandbox.options.enforceLimits)
  exchange.window = { key, limit, admission }
  if (admission.admitted) return
  const frozen = sandbox.clock.rate === 0 && exchange.settings.get(limitClock) === 'virtual'
  refuse('rate_limit_exceeded', {
    detail: `The limit of ${operation.name} in this teamspace is ${limit.limit} per ${limit.window / 1000} s.`,
    details: { reason: 'rate_limit_exceeded' },
    mitigation: frozen
      ? `The virtual clock stands still, so waiting does not help: advance it with POST /__emulator/clock/advance {"by":"${admission.retryAfter}s"}.`
      : `Wait ${admission.retryAfter} s, as Retry-After says.`,
    assumed: ['U065'],
  })
}

function authorize(sandbox: Sandbox, exchange: Exchange): void {
  const { operation, params } = exchange.call
  try {
    checkPermission(sandbox, exchange)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'forbidden') throw error
    throw operation.missingOrForbidden?.(params).because(error) ?? error
  }
}

function checkPermission(sandbox: Sandbox, exchange: Exchange): void {
  const { caller, call, tx } = exchange
  const { principal, name } = call.operation
  if (principal !== undefined && principal.kind !== caller.kind) {
    refuse(principal.code, {
      detail: `${name} is only for ${principal.kind}-scoped keys; this is a ${caller.kind} key.`,
    })
  }
  if (caller.denied.includes(name)) {
    refuse('forbidden', { detail: `The key is denied ${name} by the fact "denied" of its record.` })
  }
  for (const resource of sandbox.service.resources)
    resource.authorize?.({ caller, operation: call.operation, tx })
}

// Whether the answer is there already, so that the handler must not run.
function interfere(sandbox: Sandbox, exchange: Exchange): boolean {
  const { decision } = exchange
  if (decision === undefined) return false
  passTime(sandbox, exchange, decision)
  moveSandbox(sandbox, exchange, 'before-handler')
  exchange.now = sandbox.clock.now
  if (!replacesHandler(decision)) return false
  exchange.injected = true
  exchange.reply = { body: {} }
  return true
}

// An answer in the place of the handler's is put in at the end: also of requests that were refused before.
function interfereAfter(sandbox: Sandbox, exchange: Exchange): void {
  if (exchange.decision === undefined) return
  moveSandbox(sandbox, exchange, 'after-handler')
  exchange.now = sandbox.clock.now
}

function find(exchange: Exchange): void {
  exchange.target = exchange.call.operation.find?.(exchange)
}

function understand(sandbox: Sandbox, exchange: Exchange): void {
  const { call } = exchange
  const input = sandbox.inputOf(call.operation)
  if (call.body.kind === 'refused') throw call.body.refusal
  const issues: Issue[] = []
  exchange.query = read(exchange, input.query, '/query', call.query, issues)
  if (input.body === undefined) exchange.body = undefined
  else if (call.body.kind === 'none') {
    const absent = input.body.safeParse(undefined)
    exchange.body = absent.data
    if (!absent.success)
      refuse('validation_failed', {
        detail: `${call.operation.name} needs a JSON body.`,
        issues: [{ pointer: '', detail: 'a body is required' }],
        mitigation: 'Send a JSON object with "Content-Type: application/json".',
      })
  } else exchange.body = read(exchange, input.body, '', call.body.value, issues)
  if (issues.some(({ detail }) => detail === REQUIRED)) exchange.note('U015')
  refuseInvalid(issues)
}

function read(
  exchange: Exchange,
  schema: z.ZodType | undefined,
  at: string,
  value: unknown,
  issues: Issue[],
): unknown {
  if (schema === undefined) return value
  const result = schema.safeParse(value)
  if (result.success) return result.data
  issues.push(...zodIssues(result.error, at))
  // A schema names the assumption that one of its rules rests on through `params.assumed`.
  for (const issue of result.error.issues) {
    if (issue.code === 'custom' && typeof issue.params?.assumed === 'string')
      exchange.note(issue.params.assumed)
  }
  return undefined
}

// Time may pass here, so what was found is looked up again: the answer shows the sandbox after the poll.
function poll(sandbox: Sandbox, exchange: Exchange): void {
  const { poll, find } = exchange.call.operation
  if (poll === undefined) return
  ifWritable(exchange, () => notePoll(sandbox, poll, exchange))
  exchange.now = sandbox.clock.now
  exchange.target = find?.(exchange)
}

// Automatic skipping goes to the record's own next step, but never past a deadline of it.
function notePoll(sandbox: Sandbox, poll: Poll, exchange: Exchange): void {
  const ref = poll.ref(exchange.params)
  const scope = sandbox.scope(exchange.id)
  poll.progress(scope, ref)
  const commit = sandbox.commit(scope)
  let events = eventsIn(runEvents(sandbox, sandbox.clock.now))
  const next = sandbox.skipsOnPoll ? nextEventOf(sandbox, ref) : undefined
  const due = next?.urgency === 'work' ? Date.parse(next.due_at) : Number.POSITIVE_INFINITY
  if (due <= END_OF_TIME) events += eventsIn(advanceTo(sandbox, due, 'Skipping on a poll'))
  exchange.polled = { commit, events }
}

function handle(exchange: Exchange): void {
  exchange.reply = exchange.call.operation.handle(exchange)
}

const OF_ROUTING: ReadonlySet<string> = new Set<ErrorCode>(['route_not_found', 'method_not_allowed'])

const EMPTY_CALL = { pathPrefix: '', params: {}, query: {}, headers: {}, body: { kind: 'none' } } as const

const NOWHERE: AnyOperation = {
  name: '',
  method: 'GET',
  path: '',
  summary: '',
  section: '',
  errorFormat: 'standard',
  contract: false,
  success: 404,
  handle: () => refuse('route_not_found', { detail: 'There is no such route.' }),
}
