import type * as z from 'zod'
import { type Dialect, type ErrorCode, Refusal, refuse, refuseInvalid } from '../errors.ts'
import { actOnKey } from '../faults/acts/auth.ts'
import { passTime } from '../faults/acts/clock.ts'
import { quotaOf, refuseByQuota } from '../faults/acts/quota.ts'
import { replacesHandler } from '../faults/acts/respond.ts'
import { moveWorld } from '../faults/acts/state.ts'
import type { Decision, Sent } from '../faults/decision.ts'
import type { Issue } from '../json.ts'
import { limitClock, pathKey } from '../open-items.ts'
import type { AnyOperation, Poll } from '../operation.ts'
import { END_OF_TIME } from '../time/clock.ts'
import type { Receipt } from '../time/receipt.ts'
import { advanceTo, nextEventOf, settle } from '../time/settle.ts'
import type { World } from '../worlds/world.ts'
import { REQUIRED, zodIssues } from '../zod-issues.ts'
import { type Answer, conclude } from './answer.ts'
import { type Caller, teamspaceHeader } from './auth.ts'
import type { Call, Exchange } from './exchange.ts'
import { decide, mayInterfere } from './interfere.ts'
import { noWindow } from './rate-limiter.ts'
import { recall, remember } from './recall.ts'
import type { Step } from './steps.ts'

/** The whole way of a request. Every step either lets it pass or throws a refusal; `conclude` always runs. */
export function perform(world: World, call: Call): Answer {
  const exchange = world.exchange(call)
  try {
    step(exchange, 'settle', () => catchUp(world, exchange))
    exchange.decision = decided(world, call)
    step(exchange, 'identify', () => identify(world, exchange))
    step(exchange, 'admit', () => admit(world, exchange))
    step(exchange, 'authorize', () => authorize(world, exchange))
    if (!step(exchange, 'interfere', () => interfere(world, exchange))) serve(world, exchange)
  } catch (error) {
    exchange.refusal = error instanceof Refusal ? error : world.surprised(error)
  }
  return conclude(world, exchange)
}

function serve(world: World, exchange: Exchange): void {
  step(exchange, 'find', () => find(exchange))
  // Before the body is judged: a repeated request gets its first answer even when it would be refused by now, and
  // another body under the same key is a conflict whether or not it is valid.
  if (!step(exchange, 'recall', () => recall(exchange))) {
    step(exchange, 'understand', () => understand(world, exchange))
    step(exchange, 'poll', () => poll(world, exchange))
    step(exchange, 'handle', () => handle(exchange))
    step(exchange, 'remember', () => remember(world, exchange))
  }
  step(exchange, 'interfere-after', () => interfereAfter(world, exchange))
}

/**
 * Logs a request that a fault cut off before its handler. One that came as far as that has had its place in the rate window;
 * one whose body has not been read uses up nothing.
 */
export function cutOff(world: World, call: Call, sent: Sent): void {
  const exchange = world.exchange(call)
  try {
    if (sent.stage === 'before-handler') arrive(world, exchange)
  } catch {
    // Nobody is told any more why it would have been refused.
  }
  exchange.step = 'interfere'
  exchange.injected = true
  if (exchange.decision !== undefined) exchange.decision.sent = sent
  const untouched = noWindow(world.limitOf(call.operation.name), world.limiterNow())
  world.record(exchange, 0, exchange.window?.admission ?? untouched)
}

function arrive(world: World, exchange: Exchange): void {
  catchUp(world, exchange)
  identify(world, exchange)
  admit(world, exchange)
}

/** A request that never became a call, as far as its door knows it. */
export interface Stranger
  extends Pick<Call, 'method' | 'path' | 'chosenBy'>,
    Partial<Pick<Call, 'pathPrefix' | 'query' | 'headers' | 'connection' | 'armed' | 'decision'>> {
  readonly dialect: Dialect
  /** `METHOD /template` of the operations that come nearest. */
  readonly nearest?: readonly string[]
}

/**
 * An answer to a request that never became a call: an unknown route, a wrong method, a body that a parser refused. Fault
 * rules have a say where it is only the route that is missing, so that they can answer what the service does not know.
 */
export function turnAway(world: World, request: Stranger, refusal: Refusal): Answer {
  const { dialect, nearest = [], ...known } = request
  const exchange = world.exchange({ ...EMPTY_CALL, ...known, operation: { ...NOWHERE, dialect } })
  const ofRouting = OF_ROUTING.has(refusal.code)
  try {
    catchUp(world, exchange)
    if (ofRouting) exchange.decision = decided(world, exchange.call)
  } catch {
    // What keeps events from happening, or matches from being counted, has no part in this answer.
  }
  exchange.nearest = nearest
  exchange.step = ofRouting ? 'route' : 'receive'
  exchange.refusal = refusal
  return conclude(world, exchange)
}

// A door that has to act before there is an answer has asked already.
function decided(world: World, call: Call): Decision | undefined {
  if (call.decision !== undefined || !mayInterfere(world, call.operation)) return call.decision
  const early = decide(world, call, 'head')
  return decide(world, early === undefined ? call : { ...call, decision: early }, 'call')
}

function step<T>(exchange: Exchange, name: Step, work: () => T): T {
  exchange.step = name
  return work()
}

// Everything that is due by now has happened before anybody looks at the request.
function catchUp(world: World, exchange: Exchange): void {
  exchange.caughtUp = eventsIn(settle(world, world.clock.due()))
  exchange.now = world.clock.now
}

function eventsIn({ events, parked }: Receipt): number {
  return events.length + parked.length
}

function identify(world: World, exchange: Exchange): void {
  const { headers } = exchange.call
  const caller = authenticate(world, exchange)
  const header = exchange.settings.get(teamspaceHeader)
  const chosen = header === null ? undefined : headers[header.toLowerCase()]
  exchange.caller = chosen === undefined ? caller : { ...caller, teamspace_id: chosen }
  const isTheirs = chosen === undefined || isWelcome(world, exchange)
  exchange.windowOf = isTheirs ? exchange.caller.teamspace_id : caller.teamspace_id
}

function authenticate(world: World, exchange: Exchange): Caller {
  const { call, settings, decision } = exchange
  const caller = world.authenticator.identify(call.headers.authorization, settings)
  if (decision === undefined) return caller
  // Known to the log also when the key is refused.
  exchange.caller = caller
  return actOnKey(world, exchange, caller, decision)
}

// Whoever may not act in a teamspace must not use up its windows either.
function isWelcome(world: World, exchange: Exchange): boolean {
  try {
    authorize(world, exchange)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

function admit(world: World, exchange: Exchange): void {
  const { operation, path, pathPrefix } = exchange.call
  const own = path.slice(pathPrefix.length)
  const place = exchange.settings.get(pathKey) === 'template' ? operation.name : `${operation.method} ${own}`
  const limit = world.limitOf(operation.name)
  const key = `${exchange.windowOf} ${place}`
  const now = world.limiterNow()
  const quota = exchange.decision && quotaOf(exchange.decision)
  if (quota?.reject === true) {
    const found = world.limiter.peek(key, limit, now)
    refuseByQuota(quota, { operation: operation.name, limit, found, now })
  }
  const admission = world.limiter.admit(key, limit, now, world.options.enforceLimits)
  exchange.window = { key, limit, admission }
  if (admission.admitted) return
  const frozen = world.clock.rate === 0 && exchange.settings.get(limitClock) === 'virtual'
  refuse('rate_limit_exceeded', {
    detail: `The limit of ${operation.name} in this teamspace is ${limit.limit} per ${limit.window / 1000} s.`,
    details: { reason: 'rate_limit_exceeded' },
    mitigation: frozen
      ? `The virtual clock stands still, so waiting does not help: advance it with POST /__emulator/clock/advance {"by":"${admission.retryAfter}s"}.`
      : `Wait ${admission.retryAfter} s, as Retry-After says.`,
    assumed: ['U065'],
  })
}

function authorize(world: World, exchange: Exchange): void {
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
  for (const room of world.service.resources) room.authorize?.({ caller, operation: call.operation, tx })
}

// Whether the answer is there already, so that the handler must not run.
function interfere(world: World, exchange: Exchange): boolean {
  const { decision } = exchange
  if (decision === undefined) return false
  passTime(world, exchange, decision)
  moveWorld(world, exchange, 'before-handler')
  exchange.now = world.clock.now
  if (!replacesHandler(decision)) return false
  exchange.injected = true
  exchange.reply = { body: {} }
  return true
}

// An answer in the place of the handler's is put in at the end: also of requests that were refused before.
function interfereAfter(world: World, exchange: Exchange): void {
  if (exchange.decision === undefined) return
  moveWorld(world, exchange, 'after-handler')
  exchange.now = world.clock.now
}

function find(exchange: Exchange): void {
  exchange.target = exchange.call.operation.find?.(exchange)
}

function understand(world: World, exchange: Exchange): void {
  const { call } = exchange
  const input = world.inputOf(call.operation)
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
  // A schema names the ledger item that one of its rules rests on through `params.assumed`.
  for (const issue of result.error.issues) {
    if (issue.code === 'custom' && typeof issue.params?.assumed === 'string')
      exchange.note(issue.params.assumed)
  }
  return undefined
}

// Time may pass here, so what was found is looked up again: the answer shows the world after the poll.
function poll(world: World, exchange: Exchange): void {
  const { poll, find } = exchange.call.operation
  if (poll === undefined) return
  notePoll(world, poll, exchange)
  exchange.now = world.clock.now
  exchange.target = find?.(exchange)
}

// Automatic skipping goes to the record's own next step, but never past a deadline of it.
function notePoll(world: World, poll: Poll, exchange: Exchange): void {
  const ref = poll.ref(exchange.params)
  const scope = world.scope(exchange.id)
  poll.progress(scope, ref)
  const commit = world.commit(scope)
  let events = eventsIn(settle(world, world.clock.now))
  const next = world.skipsOnPoll ? nextEventOf(world, ref) : undefined
  const due = next?.urgency === 'work' ? Date.parse(next.due_at) : Number.POSITIVE_INFINITY
  if (due <= END_OF_TIME) events += eventsIn(advanceTo(world, due))
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
  dialect: 'standard',
  contract: false,
  success: 404,
  handle: () => refuse('route_not_found', { detail: 'There is no such route.' }),
}
