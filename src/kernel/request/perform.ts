import type * as z from 'zod'
import { type Dialect, type ErrorCode, Refusal, refuse, refuseInvalid } from '../errors.ts'
import type { Decision } from '../faults/decision.ts'
import type { Issue, Json } from '../json.ts'
import { compareBodies, limitClock, pathKey } from '../open-items.ts'
import type { AnyOperation, Poll } from '../operation.ts'
import { END_OF_TIME } from '../time/clock.ts'
import type { Receipt } from '../time/receipt.ts'
import { advanceTo, nextEventOf, settle } from '../time/settle.ts'
import type { World } from '../worlds/world.ts'
import { REQUIRED, zodIssues } from '../zod-issues.ts'
import { type Answer, conclude, statusOf } from './answer.ts'
import { teamspaceHeader } from './auth.ts'
import type { Call, Exchange } from './exchange.ts'
import { fingerprint, fingerprintBytes, idempotencyId, recallAnswer, rememberAnswer } from './idempotency.ts'
import { decide, mayInterfere } from './interfere.ts'
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
    step(exchange, 'interfere', () => interfere(world, exchange, 'before-handler'))
    step(exchange, 'find', () => find(exchange))
    // Before the body is judged: a repeated request gets its first answer even when it would be refused by now, and
    // another body under the same key is a conflict whether or not it is valid.
    if (!step(exchange, 'recall', () => recall(exchange))) {
      step(exchange, 'understand', () => understand(world, exchange))
      step(exchange, 'poll', () => poll(world, exchange))
      step(exchange, 'handle', () => handle(exchange))
      step(exchange, 'remember', () => remember(world, exchange))
    }
    step(exchange, 'interfere-after', () => interfere(world, exchange, 'after-handler'))
  } catch (error) {
    exchange.refusal = error instanceof Refusal ? error : world.surprised(error)
  }
  return conclude(world, exchange)
}

/** A request that never became a call, as far as its door knows it. */
export interface Stranger
  extends Pick<Call, 'method' | 'path' | 'chosenBy'>,
    Partial<Pick<Call, 'pathPrefix' | 'query' | 'headers'>> {
  readonly dialect: Dialect
  /** `METHOD /template` of the operations that come nearest. */
  readonly nearest?: readonly string[]
}

/** An answer to a request that never became a call: an unknown route, a wrong method, a body that a parser refused. */
export function turnAway(world: World, request: Stranger, refusal: Refusal): Answer {
  const { dialect, nearest = [], ...known } = request
  const exchange = world.exchange({ ...EMPTY_CALL, ...known, operation: { ...NOWHERE, dialect } })
  try {
    catchUp(world, exchange)
  } catch {
    // What keeps events from happening has no part in this answer.
  }
  exchange.nearest = nearest
  exchange.step = OF_ROUTING.has(refusal.code) ? 'route' : 'receive'
  exchange.refusal = refusal
  return conclude(world, exchange)
}

// A door that has to act before there is an answer has asked already.
function decided(world: World, call: Call): Decision | undefined {
  if (call.decision !== undefined || !mayInterfere(world, call.operation, call.headers)) return call.decision
  return decide(world, call, 'call')
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
  const caller = world.authenticator.identify(headers.authorization, exchange.settings)
  const header = exchange.settings.get(teamspaceHeader)
  const chosen = header === null ? undefined : headers[header.toLowerCase()]
  exchange.caller = chosen === undefined ? caller : { ...caller, teamspace_id: chosen }
  const isTheirs = chosen === undefined || isWelcome(world, exchange)
  exchange.windowOf = isTheirs ? exchange.caller.teamspace_id : caller.teamspace_id
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
  const admission = world.limiter.admit(key, limit, world.limiterNow(), world.options.enforceLimits)
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

/** Where faults will act; without rules nothing happens here. */
function interfere(_world: World, _exchange: Exchange, _stage: 'before-handler' | 'after-handler'): void {}

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

function recall(exchange: Exchange): boolean {
  const { operation, headers, body } = exchange.call
  const key = headers['idempotency-key']
  if (operation.idempotent !== true || key === undefined || body.kind !== 'json') return false
  if (key === '' || key.length > 255) {
    refuseInvalid([
      { pointer: '/headers/idempotency-key', detail: 'must have 1 to 255 characters, or be left out' },
    ])
  }
  exchange.idempotency = 'conflict'
  const record = recallAnswer(
    exchange.tx,
    idempotencyOf(exchange, key),
    fingerprintOf(exchange),
    exchange.now,
  )
  exchange.idempotency = record === undefined ? 'fresh' : 'replay'
  if (record === undefined) return false
  exchange.reply = { status: record.status, body: record.body as object }
  return true
}

function handle(exchange: Exchange): void {
  exchange.reply = exchange.call.operation.handle(exchange)
}

function remember(world: World, exchange: Exchange): void {
  const { idempotency, reply, call } = exchange
  if (idempotency === 'fresh') {
    const id = idempotencyOf(exchange, call.headers['idempotency-key'] ?? '')
    const answer = { status: statusOf(exchange), body: (reply?.body ?? null) as Json }
    rememberAnswer(exchange.tx, { id, fingerprint: fingerprintOf(exchange), ...answer }, exchange.now)
  }
  exchange.commit = world.store.commit(exchange.tx, exchange.at)
}

function idempotencyOf({ caller, call }: Exchange, key: string): string {
  return idempotencyId(caller.teamspace_id, call.operation.name, key)
}

function fingerprintOf(exchange: Exchange): string {
  exchange.fingerprint ??= makeFingerprint(exchange)
  return exchange.fingerprint
}

function makeFingerprint({ call, settings }: Exchange): string {
  if (call.body.kind !== 'json') return ''
  const bytes = settings.get(compareBodies) === 'bytes' ? call.body.bytes : undefined
  return bytes === undefined ? fingerprint(call.body.value) : fingerprintBytes(bytes)
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
