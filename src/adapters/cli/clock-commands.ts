import { parseDuration } from '../../core/time/instant.ts'
import type { AdvanceResult, DeliveryAttempt, FutureEvent, RanEvent } from '../../core/time/scheduler.ts'
import type { OwnCalls } from '../control/client/ask.ts'
import { advanceToTarget, type TargetOf } from '../control/client/clock.ts'
import { callCommand } from './call-command.ts'
import { command, SANDBOX_OPTIONS } from './command.ts'
import { controlOf } from './control-client.ts'
import { numberArgument, type OptionValues, UsageError } from './options.ts'
import { show } from './print.ts'

type ClockView = OwnCalls['GET /clock']['output']

/** The target of an advance. The emulator checks the goal, so its type is open here. */
type Target = TargetOf<object>

/** A command that changes how time passes. */
function passing(
  name: string,
  description: string,
  body: Extract<Parameters<typeof callCommand>[0]['body'], (...given: never[]) => object>,
  args: readonly { readonly name: string; readonly description: string }[] = [],
) {
  return callCommand({
    name: `clock ${name}`,
    description,
    route: 'PATCH /clock',
    args,
    body,
    lines: clockLines,
  })
}

export const clockCommands = [
  callCommand({
    name: 'clock',
    description: 'Show the virtual clock',
    route: 'GET /clock',
    lines: clockLines,
  }),
  command({
    name: 'clock advance',
    description:
      'Advance the virtual clock by a duration, or to the target of --to, --steps or --until-batch; all due events run',
    args: [{ name: '[duration]', description: 'such as 90s, 10m, 24h, 29d or PT24H' }],
    options: [
      ...SANDBOX_OPTIONS,
      ...(['to', 'steps', 'untilBatch', 'status', 'items', 'maxEvents'] as const),
    ],
    help: { status: { description: 'status of the batch to advance to, instead of its end' } },
    run: async ({ args, options, terminal }) => {
      const target = targetOf(args[0], options)
      const limit = options.maxEvents === undefined ? {} : { max_events: options.maxEvents }
      const call = (body: Target) => controlOf(options)('POST /clock/advance', { body })
      const result = await advanceToTarget(call, { ...target, ...limit })
      return show({ options, terminal }, result, advanceLines(result))
    },
  }),
  passing('freeze', 'Stop the virtual clock: time passes only when it is advanced', () => ({ rate: 0 })),
  passing('run', 'Let the virtual clock run as fast as the real one', () => ({ rate: 1 })),
  passing(
    'rate',
    'Choose how fast the virtual clock runs',
    ({ rate }) => ({ rate: numberArgument('rate', rate) }),
    [{ name: '<rate>', description: 'virtual seconds per real second; 0 freezes the clock' }],
  ),
]

function clockLines(clock: ClockView): string[] {
  const { now, skip_on_poll, next, frozen } = clock
  const skips = skip_on_poll ? ', skips on poll' : ''
  const lines = [`${now}, ${speedOf(clock)}${skips}`, `next: ${nextEvent(next)}`]
  return frozen === null ? lines : [...lines, frozen]
}

/** `frozen`, or the rate. */
export function speedOf({ rate, lag_ms }: ClockView): string {
  const lag = lag_ms > 0 ? `, ${Math.round(lag_ms / 1000)} s behind` : ''
  return `${rate === 0 ? 'frozen' : `rate ${rate}`}${lag}`
}

type Targets = OptionValues<'to' | 'steps' | 'untilBatch' | 'status' | 'items'>

/** The body of the request. Throws {@link UsageError} unless exactly one target is given. */
function targetOf(by: string | undefined, { to, steps, untilBatch, status, items }: Targets): Target {
  if (status !== undefined && items !== undefined) {
    throw misuse(
      'accepts --status or --items, not both. Without either, time passes until the batch is terminal.',
    )
  }
  if (untilBatch === undefined && (status !== undefined || items !== undefined)) {
    const flag = status === undefined ? '--items' : '--status'
    throw new UsageError([`${flag} needs a batch. Name it with --until-batch.`])
  }
  const targets = { [`"${by}"`]: by, '--to': to, '--steps': steps, '--until-batch': untilBatch }
  const given = Object.entries(targets).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (given.length === 0) {
    throw misuse(
      'needs a target: a duration such as 90s, 10m, 24h, 29d or PT24H, or one of --to, --steps and --until-batch.',
    )
  }
  if (given.length > 1) throw misuse(`accepts one target, but got ${given.join(', ')}. Give one of them.`)
  if (to !== undefined) return { to }
  if (steps !== undefined) return { steps }
  if (untilBatch !== undefined) {
    // The emulator refuses an unknown status, and names the known ones.
    const goal = status === undefined ? {} : { status }
    return {
      until: { batch: untilBatch, ...goal, ...(items === undefined ? {} : { finished_items: items }) },
    }
  }
  if (by === undefined || parseDuration(by) === undefined) {
    throw new UsageError([
      `clock advance: "${by}" is not a duration. Give one such as 90s, 10m, 24h, 29d or PT24H.`,
    ])
  }
  return { by }
}

function misuse(problem: string): UsageError {
  return new UsageError([`clock advance ${problem}`])
}

function advanceLines({ from, to, events, failed, omitted = {}, stopped }: AdvanceResult): string[] {
  const failures = failed.map((event) => `${eventLine(event)}: failed, ${event.error}`)
  const omissions = Object.entries(omitted).map(([kind, count]) => `  ${count} of ${kind}`)
  return [
    `${from} to ${to}`,
    ...events.map(eventLine),
    ...(failures.length === 0 ? [] : ['Failed:', ...failures]),
    ...(omissions.length === 0 ? [] : ['Further events, which are not listed:', ...omissions]),
    ...(stopped === 'limit'
      ? [`Stopped at the limit of events, at ${to}: run the command again to continue.`]
      : []),
  ]
}

/** The next event, on one line. */
export function nextEvent(next: FutureEvent | null): string {
  return next === null ? 'nothing is due' : eventLine(next).trim()
}

type Shown = Pick<RanEvent, 'at' | 'description' | 'from' | 'to' | 'webhook'>

/** An event on one line. */
export function eventLine({ at, description, from, to, webhook }: Shown): string {
  const move = from === undefined ? '' : ` (${from} to ${to})`
  return `  ${at}  ${description}${move}${webhook === undefined ? '' : attempt(webhook)}`
}

function attempt({ status, ms }: DeliveryAttempt): string {
  return ` [${status === null ? 'no response' : `HTTP ${status}`}, ${ms} ms]`
}
