import { z } from 'zod'
import type { ShapeOf } from '../fields.ts'
import type { LogEntry } from '../log/request-log.ts'
import type { AnyOperation } from '../operation.ts'
import { STEPS, type Step } from '../request/steps.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { counted } from '../words.ts'
import { effectsOf, inShort } from './effects.ts'
import { idempotencyOf, limiterOf, loggedOperation } from './limits.ts'

/** One step of the pipeline, and its effect on the request. */
export const stepTrace = () =>
  z.strictObject({
    step: z.enum(STEPS),
    outcome: z.enum(['passed', 'decided', 'not reached']),
    /** Empty for a step that was not reached. */
    description: z.string(),
  })

export type StepTrace = ShapeOf<typeof stepTrace>

/** Every step of a request. Exactly one step has decided the response. */
export function stepsOf(sandbox: Sandbox, entry: LogEntry): StepTrace[] {
  const operation = loggedOperation(sandbox, entry)
  return STEPS.map((step) => {
    const outcome = outcomeOf(step, entry)
    if (outcome === 'not reached') return { step, outcome, description: '' }
    if (step === entry.overruled)
      return { step, outcome, description: 'It refused the request, and a fault responded instead.' }
    const isError = outcome === 'decided' && entry.error !== undefined
    const said = isError ? (entry.error?.detail ?? '') : descriptions[step]({ sandbox, entry, operation })
    const way = step === 'log' ? entry.faults?.wayOf() : undefined
    return { step, outcome, description: [said, entry.faults?.partIn(step), way].filter(Boolean).join(' ') }
  })
}

function outcomeOf(step: Step, entry: LogEntry): StepTrace['outcome'] {
  const { decided, error, overruled, cors } = entry
  if (step === decided) return 'decided'
  if (cors?.isPreflight && error === undefined) return step === 'log' ? 'passed' : 'not reached'
  if (overruled !== undefined && step !== 'log')
    return STEPS.indexOf(step) <= STEPS.indexOf(overruled) ? 'passed' : 'not reached'
  if (isCutOff(entry)) return isBeforeCut(step, entry) ? 'passed' : 'not reached'
  if (step === 'log') return 'passed'
  // Due events run even for a request that its adapter refused.
  if (step === 'runDueEvents' && BEFORE_DUE_EVENTS.has(decided)) return 'passed'
  const isBefore = STEPS.indexOf(step) < STEPS.indexOf(decided)
  if (isBefore) return 'passed'
  if (error !== undefined || decided === 'faultsBefore') return 'not reached'
  return decided === 'replay' && SKIPPED_BY_REPLAY.has(step) ? 'not reached' : 'passed'
}

// A request with a rate window had passed the limiter before it was cut off.
function isBeforeCut(step: Step, { window }: LogEntry): boolean {
  return BEFORE_DUE_EVENTS.has(step) || (window !== undefined && BEFORE_AUTHORIZE.has(step))
}

const BEFORE_AUTHORIZE: ReadonlySet<Step> = new Set(['runDueEvents', 'authenticate', 'rateLimit'])
const BEFORE_DUE_EVENTS: ReadonlySet<Step> = new Set(['receive', 'route'])
const SKIPPED_BY_REPLAY: ReadonlySet<Step> = new Set(['validate', 'poll', 'handle', 'commit'])

/** The descriptions of steps that did not refuse. The operation is defined at every step from `authenticate` on. */
const descriptions: Readonly<
  Record<Step, (told: { sandbox: Sandbox; entry: LogEntry; operation: AnyOperation | undefined }) => string>
> = {
  receive: ({ entry: { body, cors } }) =>
    cors?.isPreflight
      ? 'It is a preflight, which a browser sends before a request of a page.'
      : BODIES[body.kind],
  route: ({ operation: { name, method, path, place } = {} }) =>
    `It is ${name}: ${method} ${path}${place === undefined ? '' : `, defined at ${place}`}.`,
  runDueEvents: ({ entry: { caughtUp } }) =>
    caughtUp === 0 ? 'Nothing was due.' : `${events(caughtUp)} due and ran first.`,
  authenticate: ({ entry: { caller } }) =>
    `The key ${caller?.key_id} acts in the teamspace ${caller?.teamspace_id}${caller?.user_id == null ? '' : ` for ${caller.user_id}`}.`,
  rateLimit: ({ sandbox, entry }) => limiterOf(sandbox, entry).description,
  checkPathIds: ({ operation }) =>
    operation?.checkPathIds === undefined
      ? 'The operation has no rule for the form of its ids.'
      : 'The ids in the path are well-formed.',
  authorize: ({ operation }) => `The key may call ${operation?.name}.`,
  faultsBefore: ({ entry }) => {
    if (isCutOff(entry))
      return `The connection was cut before anything was performed. ${entry.faults?.wayOf() ?? ''}`
    return entry.faults?.partIn('faultsBefore') ? '' : 'No fault acted before the handler.'
  },
  loadTarget: ({ operation }) =>
    operation?.find === undefined
      ? 'No record has to be found before the body is checked.'
      : 'The record of the request exists, and the caller may see it.',
  replay: ({ sandbox, entry }) => idempotencyOf(sandbox, entry).description,
  validate: ({ operation }) =>
    operation?.input === undefined ? 'There is nothing to check.' : 'Query and body are valid.',
  poll: ({ entry: { poll } }) =>
    poll === undefined
      ? 'The operation polls no record that makes progress.'
      : `The poll was noted.${poll.events === 0 ? '' : ` ${events(poll.events)} due by then and ran.`}`,
  handle: ({ entry }) =>
    entry.decided === 'faultsAfter'
      ? `The response of the handler was replaced; ${inShort(effectsOf(entry))}.`
      : `${respondedWith(entry)}; ${inShort(effectsOf(entry))}.`,
  commit: ({ entry: { commit, idempotency } }) =>
    commit === undefined
      ? 'There was nothing to write.'
      : `Its changes are revision ${commit.revision}${idempotency === 'fresh' ? ', including the response under the Idempotency-Key' : ''}.`,
  faultsAfter: ({ entry: { faults } }) =>
    faults?.partIn('faultsAfter') ? '' : 'No fault acted after the handler.',
  log: ({ entry }) => concluded(entry),
}

/** Whether a fault cut the request off before it was performed. */
export function isCutOff({ status }: LogEntry): boolean {
  return status === 0
}

function respondedWith({ added, status, remark }: LogEntry): string {
  if (added === undefined) return `It responded with ${status}`
  if (added.stub !== undefined)
    return `The stub ${added.stub} responded with ${status} instead of the service`
  return `The endpoint at ${added.place} responded with ${status}${remark === undefined ? '' : ` (${remark})`}`
}

function concluded({ status, faults, tomorrow }: LogEntry): string {
  const isWhole = faults?.sent === undefined || faults.sent.end === 'whole'
  return `The response ${isWhole ? 'was' : 'would have been'} ${status}, with${faults?.isProxy === true ? 'out' : ''} the rate-limit headers.${tomorrow === undefined ? '' : ` The setting or fault tomorrow has changed it: ${tomorrow.join(', ')}.`}`
}

const BODIES: Readonly<Record<LogEntry['body']['kind'], string>> = {
  none: 'It had no body, or one that was not read.',
  json: 'It had a JSON body.',
  large: 'It had a JSON body that is too large for the log.',
  refused: 'It had a body that could not be read; the step validate has the reason.',
}

function events(count: number): string {
  return `${counted(count, 'event')} ${count === 1 ? 'was' : 'were'}`
}
