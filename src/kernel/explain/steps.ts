import { allOf } from '../faults/actions.ts'
import type { LogEntry } from '../log/request-log.ts'
import type { AnyOperation } from '../operation.ts'
import { STEPS, type Step } from '../request/steps.ts'
import { counted } from '../words.ts'
import type { World } from '../worlds/world.ts'
import { effectsOf, inShort } from './effects.ts'
import { isCutOff, partIn, wayOf } from './faults.ts'
import { idempotencyOf, limiterOf } from './limits.ts'
import { operationOf } from './operation-of.ts'

/** One step of the way, and what it did with the request. */
export interface StepTrace {
  readonly step: Step
  readonly outcome: 'passed' | 'decided' | 'not reached'
  /** Empty for a step that was not reached. */
  readonly says: string
}

/** The whole way of a request, step by step. Exactly one step has decided. */
export function stepsOf(world: World, entry: LogEntry): StepTrace[] {
  const operation = operationOf(world, entry)
  return STEPS.map((step) => {
    const outcome = outcomeOf(step, entry)
    if (outcome === 'not reached') return { step, outcome, says: '' }
    if (step === entry.overruled) return { step, outcome, says: 'It refused, and a fault answered instead.' }
    const isError = outcome === 'decided' && entry.error !== undefined
    const said = isError ? (entry.error?.detail ?? '') : says[step]({ world, entry, operation })
    const way = step === 'conclude' ? wayOf(entry) : ''
    return { step, outcome, says: joined(said, partIn(step, entry), way) }
  })
}

function joined(...sentences: readonly string[]): string {
  return sentences.filter((each) => each !== '').join(' ')
}

function outcomeOf(step: Step, entry: LogEntry): StepTrace['outcome'] {
  const { decided, error, overruled } = entry
  if (step === decided) return 'decided'
  if (overruled !== undefined && step !== 'conclude')
    return STEPS.indexOf(step) <= STEPS.indexOf(overruled) ? 'passed' : 'not reached'
  if (isCutOff(entry)) return isBeforeCut(step, entry) ? 'passed' : 'not reached'
  if (step === 'conclude') return 'passed'
  // Time has passed even for a request that its door turned away.
  if (step === 'settle' && BEFORE_SETTLE.has(decided)) return 'passed'
  const isBefore = STEPS.indexOf(step) < STEPS.indexOf(decided)
  if (isBefore) return 'passed'
  if (error !== undefined || decided === 'interfere') return 'not reached'
  return decided === 'recall' && SKIPPED_BY_REPLAY.has(step) ? 'not reached' : 'passed'
}

// A request that came as far as its handler has been admitted before.
function isBeforeCut(step: Step, { window }: LogEntry): boolean {
  return BEFORE_SETTLE.has(step) || (window !== undefined && BEFORE_AUTHORIZE.has(step))
}

const BEFORE_AUTHORIZE: ReadonlySet<Step> = new Set(['settle', 'identify', 'admit'])
const BEFORE_SETTLE: ReadonlySet<Step> = new Set(['receive', 'route'])
const SKIPPED_BY_REPLAY: ReadonlySet<Step> = new Set(['understand', 'poll', 'handle', 'remember'])

interface Told {
  readonly world: World
  readonly entry: LogEntry
  /** There is one at every step from `identify` on. */
  readonly operation: AnyOperation | undefined
}

/** What each step did when it did not refuse. */
const says: Readonly<Record<Step, (told: Told) => string>> = {
  receive: ({ entry }) => BODIES[entry.body.kind],
  route: ({ operation }) => `It is ${operation?.name}: ${operation?.method} ${operation?.path}.`,
  settle: ({ entry: { caughtUp } }) =>
    caughtUp === 0 ? 'Nothing was due.' : `${events(caughtUp)} due and ran first.`,
  identify: ({ entry: { caller } }) =>
    `The key ${caller?.key_id} acts in the teamspace ${caller?.teamspace_id}${caller?.user_id == null ? '' : ` for ${caller.user_id}`}.`,
  admit: ({ world, entry }) => limiterOf(world, entry).says,
  authorize: ({ operation }) => `The key may call ${operation?.name}.`,
  interfere: ({ entry }) => {
    if (isCutOff(entry)) return `The connection was cut before anything was performed. ${wayOf(entry)}`
    return partIn('interfere', entry) === '' ? 'No fault acted before the handler.' : ''
  },
  find: ({ operation }) =>
    operation?.find === undefined
      ? 'Nothing has to be found before the body is looked at.'
      : 'What the request is about is there, and the caller may see it.',
  recall: ({ world, entry }) => idempotencyOf(world, entry).says,
  understand: ({ operation }) =>
    operation?.input === undefined ? 'There is nothing to check.' : 'Query and body are valid.',
  poll: ({ entry: { poll } }) =>
    poll === undefined
      ? 'The operation polls nothing that makes progress.'
      : `The poll was noted.${poll.events === 0 ? '' : ` ${events(poll.events)} due by then and ran.`}`,
  handle: ({ entry }) =>
    entry.decided === 'interfere-after'
      ? `What it answered was replaced; ${inShort(effectsOf(entry))}.`
      : `${answererOf(entry)} answered ${entry.status}; ${inShort(effectsOf(entry))}.`,
  remember: ({ entry: { commit, idempotency } }) =>
    commit === undefined
      ? 'There was nothing to write.'
      : `What it wrote is revision ${commit.revision}${idempotency === 'fresh' ? ', the answer under the Idempotency-Key included' : ''}.`,
  'interfere-after': ({ entry }) =>
    partIn('interfere-after', entry) === '' ? 'No fault acted after the handler.' : '',
  conclude: ({ entry }) => concluded(entry),
}

function answererOf({ stubbed }: LogEntry): string {
  return stubbed === undefined ? 'It' : `The stub ${stubbed.stub} stood for the service and`
}

function concluded({ status, faults }: LogEntry): string {
  const isProxy = allOf(faults?.actions ?? [], 'respond')[0]?.proxy === true
  const isWhole = faults?.sent === undefined || faults.sent.end === 'whole'
  return `The answer ${isWhole ? 'was' : 'would have been'} ${status}, with${isProxy ? 'out' : ''} the rate-limit headers.`
}

const BODIES: Readonly<Record<LogEntry['body']['kind'], string>> = {
  none: 'It came without a body, or with one that nobody had to read.',
  json: 'It came with a JSON body.',
  large: 'It came with a JSON body that is too large for the log.',
  refused: 'It came with a body that could not be read; the step understand says why.',
}

function events(count: number): string {
  return `${counted(count, 'event')} ${count === 1 ? 'was' : 'were'}`
}
