import type { ErrorCode } from '../error-kinds.ts'
import { defect, type ErrorFormat, Refusal, refuse } from '../errors.ts'
import { logEntry, maskedWordsOf } from '../log/log-entry.ts'
import type { AnyOperation } from '../operation.ts'
import { resultOf } from '../record/own-result.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { inNextTurn } from '../time/realtime.ts'
import { authenticate, authorizeCall, rateLimit } from './access.ts'
import { catchUp, poll } from './due-events.ts'
import { type Call, Exchange } from './exchange.ts'
import { commit, replay } from './replay.ts'
import { type ApiResponse, finish } from './response.ts'
import type { Step } from './steps.ts'
import { validateInput } from './validate.ts'

/** Does the work of a step, or refuses the request. Returns true when the response is complete and no later step is needed. */
type Work = (sandbox: Sandbox, exchange: Exchange) => unknown

/** The steps of a request, in order. The hooks of an exchange are called before and after each step, and on the response. */
const PIPELINE: readonly (readonly [step: Step, work: Work])[] = [
  ['runDueEvents', catchUp],
  // After the events: one of them may have armed a rule.
  ['runDueEvents', askForHooks],
  ['authenticate', authenticate],
  ['rateLimit', rateLimit],
  ['checkPathIds', (_, { call }) => call.operation.checkPathIds?.(call.params)],
  ['authorize', authorizeCall],
  ['loadTarget', loadTarget],
  // Before `validate`: a repeated request gets its first response even when it would be refused now. Another body under the
  // same key is a conflict, valid or not.
  ['replay', (_, exchange) => replay(exchange)],
  ['validate', validateInput],
  ['poll', poll],
  ['handle', handle],
  ['commit', commit],
]

/** The steps up to `rateLimit`, with which a request takes its place in the rate window. */
const ARRIVAL = PIPELINE.slice(0, PIPELINE.findIndex(([step]) => step === 'rateLimit') + 1)

/** Runs all steps of a request. Each step lets it pass or refuses it. The response is created and logged in both cases. */
export function perform(sandbox: Sandbox, call: Call): ApiResponse {
  runWaiting(sandbox)
  return finish(sandbox, runCall(sandbox, call))
}

/** A request that waits for those that arrive with it. */
interface Waiting {
  readonly call: Call
  resolve(response: ApiResponse): void
  reject(error: unknown): void
}

const groups = new WeakMap<Sandbox, Waiting[]>()

/** Runs a request together with those that arrive in the same turn of the event loop: their commits share one write. */
export function performSoon(sandbox: Sandbox, call: Call): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const waiting = { call, resolve, reject }
    if (groups.get(sandbox)?.push(waiting) !== undefined) return
    groups.set(sandbox, [waiting])
    inNextTurn(() => runWaiting(sandbox))
  })
}

/** Runs the requests that wait for others. Must be called before anything that arrives after them acts on the sandbox. */
export function runWaiting(sandbox: Sandbox): void {
  const group = groups.get(sandbox)
  if (group === undefined) return
  groups.delete(sandbox)
  try {
    const calls = group.map(({ call }) => call)
    for (const [n, response] of performTogether(sandbox, calls).entries()) group[n]?.resolve(response)
  } catch (error) {
    for (const { reject } of group) reject(error)
  }
}

/**
 * Runs requests; the commits of several share one write. When it fails, all of them are refused and have changed nothing: each may
 * have read what another one has written.
 */
export function performTogether(sandbox: Sandbox, calls: readonly Call[]): ApiResponse[] {
  if (calls.length === 1) return calls.map((call) => perform(sandbox, call))
  const exchanges: Exchange[] = []
  const run = (): void => {
    for (const call of calls) exchanges.push(runCall(sandbox, call))
  }
  sandbox.store.group(run, (undone, error) => {
    for (const exchange of exchanges) {
      if (exchange.commit !== undefined && !undone.includes(exchange.commit)) continue
      exchange.refusal = refusalOf(sandbox, error)
      exchange.commit = undefined
    }
  })
  return exchanges.map((exchange) => {
    sandbox.recording.read(exchange.now)
    return finish(sandbox, exchange)
  })
}

/** Runs all steps of a request, and leaves its response to the caller. */
function runCall(sandbox: Sandbox, given: Call): Exchange {
  const operation = given.operation.choose?.(given)
  const call = operation === undefined ? given : { ...given, operation }
  const exchange = exchangeOf(sandbox, call)
  try {
    run(sandbox, exchange)
  } catch (error) {
    exchange.refusal = refusalOf(sandbox, error)
    if (exchange.refusal.options.admission !== undefined && exchange.window !== undefined)
      exchange.window = sandbox.limits.release(exchange.window)
  }
  return exchange
}

/** Begins a request: it gets its number. */
function exchangeOf(sandbox: Sandbox, call: Call): Exchange {
  sandbox.recording.begin()
  const id = call.id ?? sandbox.log.count(sandbox.name)
  return new Exchange(call, sandbox.store.begin(), sandbox.clock.now, sandbox, id)
}

/** The refusal itself, or the one for a defect, which is reported. */
export function refusalOf({ options }: Sandbox, error: unknown): Refusal {
  if (error instanceof Refusal) return error
  options.onDefect(error)
  return defect()
}

function run(sandbox: Sandbox, exchange: Exchange, steps = PIPELINE): void {
  for (const [step, work] of steps) {
    exchange.step = step
    if (exchange.hooks?.before(exchange, step) === true) return
    exchange.step = step
    const isDone = work(sandbox, exchange)
    exchange.hooks?.after(exchange, step)
    if (isDone === true) return
  }
}

// An adapter that has to act before there is a response has set the hooks already.
function askForHooks(sandbox: Sandbox, exchange: Exchange): void {
  exchange.hooks ??= sandbox.hooks?.begin(exchange.call)
}

function loadTarget(_: Sandbox, exchange: Exchange): void {
  exchange.target = exchange.call.operation.find?.(exchange)
}

function handle(_: Sandbox, exchange: Exchange): void {
  const { operation } = exchange.call
  exchange.reply = operation.handle(exchange)
  // Before the commit, which adds changes of its own.
  if (operation.place !== undefined) exchange.result = resultOf(exchange)
  // Before the response is stored: a replay has the same bytes.
  if (exchange.tomorrow !== undefined)
    exchange.reply = exchange.tomorrow.reply(exchange.reply, operation.output?.(exchange.settings))
}

/**
 * Logs a request that a fault cut off before its handler. With `hasArrived` it takes a place in its rate window; without, its
 * body has not been read and it takes none.
 */
export function cutOff(sandbox: Sandbox, call: Call, hasArrived: boolean): void {
  const exchange = exchangeOf(sandbox, call)
  try {
    if (hasArrived) run(sandbox, exchange, ARRIVAL)
  } catch {
    // A refusal has no effect: there is no response that could contain it.
  }
  exchange.step = 'faultsBefore'
  exchange.injected = true
  const untouched = sandbox.limits.untouched(call.operation.name)
  const words = maskedWordsOf(call, sandbox, exchange.settings)
  sandbox.log.add(logEntry(exchange, 0, exchange.window?.admission ?? untouched, words))
}

type Known = 'method' | 'path' | 'chosenBy'

/** A request that does not reach the pipeline, with the parts that its adapter has read. */
interface Unrouted extends Pick<Call, Known>, Partial<Omit<Call, Known | 'operation'>> {
  readonly errorFormat: ErrorFormat
  /** `METHOD /template` of the most similar operations. */
  readonly nearest?: readonly string[]
}

/**
 * The response to a request that does not reach the pipeline: an unknown route, a wrong method, a body that a parser refused.
 * In the first two cases the hooks are called, so that a fault can respond to a request that the service has no route for.
 * @param refusal undefined: a preflight that the browser takes as a refusal. It is logged, because the request itself never
 * comes; no step runs for it.
 */
export function respondUnrouted(
  sandbox: Sandbox,
  request: Unrouted,
  refusal: Refusal | undefined,
): ApiResponse {
  runWaiting(sandbox)
  const { errorFormat, nearest = [], ...known } = request
  const exchange = exchangeOf(sandbox, {
    ...EMPTY_CALL,
    ...known,
    operation: { ...unroutedOperation, errorFormat },
  })
  const ofRouting = OF_ROUTING.has(refusal?.code)
  try {
    if (refusal !== undefined) catchUp(sandbox, exchange)
    if (ofRouting) askForHooks(sandbox, exchange)
  } catch {
    // A failure to run events, or to count matches of faults, does not change this response.
  }
  exchange.nearest = nearest
  exchange.step = ofRouting ? 'route' : 'receive'
  exchange.refusal = refusal
  if (refusal === undefined) exchange.reply = { status: 204 }
  return finish(sandbox, exchange)
}

const OF_ROUTING: ReadonlySet<ErrorCode | undefined> = new Set(['route_not_found', 'method_not_allowed'])

const EMPTY_CALL = { pathPrefix: '', params: {}, query: {}, headers: {}, body: { kind: 'none' } } as const

const unroutedOperation: AnyOperation = {
  name: '',
  method: 'GET',
  path: '',
  summary: '',
  section: '',
  errorFormat: 'standard',
  contract: false,
  permissionShown: true,
  success: 404,
  handle: () => refuse('route_not_found', { detail: 'There is no such route.' }),
}
