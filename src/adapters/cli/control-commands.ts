import { scheduler } from 'node:timers/promises'
import { elapsedTime } from '../../core/time/clock.ts'
import { formatDuration, parseDuration } from '../../core/time/instant.ts'
import type { AdvanceResult, DeliveryAttempt, FutureEvent, RanEvent } from '../../core/time/scheduler.ts'
import type { OwnCalls } from '../control/client/ask.ts'
import { advanceToTarget, type TargetOf } from '../control/client/clock.ts'
import {
  CLIENT_OPTIONS,
  CommandFailed,
  command,
  OK,
  SANDBOX_OPTIONS,
  type SandboxInvocation,
} from './command.ts'
import { type ControlAddress, controlOf } from './control-client.ts'
import { type OptionValues, UsageError } from './options.ts'
import { show } from './print.ts'

/** The emulator knows what a goal is. */
type Target = TargetOf<object>

export const wait = command({
  name: 'wait',
  description: 'Wait until an emulator is ready: exit code 0, or 1 when the time is up',
  options: [...CLIENT_OPTIONS, 'timeout'],
  run: async ({ options, terminal }) => {
    await untilReady(options, options.timeout)
    terminal.out(options.json ? JSON.stringify({ ready: true, url: options.url }) : `Ready: ${options.url}`)
    return OK
  },
})

export const status = command({
  name: 'status',
  description: 'Show whether an emulator runs and what its clock says',
  options: SANDBOX_OPTIONS,
  run: async ({ options, terminal }) => {
    const ask = controlOf(options)
    const health = await ask('GET /health')
    const clock = await ask('GET /clock')
    const { now, next, frozen } = clock
    const facts = { url: options.url, sandbox: options.sandbox ?? null, ...health, clock }
    return show({ options, terminal }, facts, [
      `${placeOf(options)}: version ${health.version}, contract ${health.contract_version}`,
      `  clock  ${now}, ${speedOf(clock)}`,
      `  next   ${nextEvent(next)}`,
      ...(frozen === null ? [] : [`  ${frozen}`]),
    ])
  },
})

export const clockCommands = [
  command({
    name: 'clock',
    description: 'Show the virtual clock',
    options: SANDBOX_OPTIONS,
    run: async ({ options, terminal }) => {
      const body = await controlOf(options)('GET /clock')
      const { now, skip_on_poll, next, frozen } = body
      const skips = skip_on_poll ? ', skips on poll' : ''
      const lines = [`${now}, ${speedOf(body)}${skips}`, `next: ${nextEvent(next)}`]
      if (frozen !== null) lines.push(frozen)
      return show({ options, terminal }, body, lines)
    },
  }),
  command({
    name: 'clock advance',
    description:
      'Move the virtual clock forward by a duration, or as far as --to, --steps or --until-batch says; everything that becomes due happens',
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
]

export const reset = command({
  name: 'reset',
  description: 'Put the starting state back',
  options: SANDBOX_OPTIONS,
  run: async ({ options, terminal }) => {
    const body = await controlOf(options)('POST /reset', { body: {} })
    return show({ options, terminal }, body, [`The sandbox of ${placeOf(options)} starts again.`])
  },
})

/** Milliseconds between two requests of `wait`. */
const PAUSE = 50

/** Milliseconds that one of its requests may take; an emulator that is nearly ready responds at once. */
const PATIENCE = 2_000

async function untilReady(address: ControlAddress, timeout: number): Promise<void> {
  const deadline = elapsedTime() + timeout
  let last: string | undefined
  for (;;) {
    // A timeout of 0 asks once.
    const left = timeout === 0 ? PATIENCE : Math.ceil(deadline - elapsedTime())
    const patience = Math.max(1, Math.min(PATIENCE, left))
    const obstacle = await obstacleAt(address, patience, last)
    if (obstacle === undefined) return
    last = obstacle
    if (elapsedTime() + PAUSE >= deadline) {
      throw new CommandFailed(`Not ready after ${formatDuration(timeout)}: ${obstacle}`)
    }
    // Not `later`: this process must not load the emulator, whose timers it is for.
    await scheduler.wait(PAUSE)
  }
}

/** Why the emulator is not ready. A request that had less time than the others says nothing new: what was known before stays. */
async function obstacleAt(
  address: ControlAddress,
  patience: number,
  known: string | undefined,
): Promise<string | undefined> {
  try {
    await controlOf(address, patience)('GET /ready')
    return undefined
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    return known !== undefined && error.message.includes('TimeoutError') ? known : error.message
  }
}

function placeOf({ url, sandbox }: SandboxInvocation['options']): string {
  return sandbox === undefined ? url : `${url}, sandbox ${sandbox}`
}

function speedOf({ rate, lag_ms }: OwnCalls['GET /clock']['output']): string {
  const lag = lag_ms > 0 ? `, ${Math.round(lag_ms / 1000)} s behind` : ''
  return `${rate === 0 ? 'frozen' : `rate ${rate}`}${lag}`
}

type Targets = OptionValues<'to' | 'steps' | 'untilBatch' | 'status' | 'items'>

/** The body of the request. Refuses everything but exactly one target. */
function targetOf(by: string | undefined, { to, steps, untilBatch, status, items }: Targets): Target {
  if (status !== undefined && items !== undefined) {
    throw misuse(
      'takes --status or --items, not both. Without either, time passes until the batch is terminal.',
    )
  }
  if (untilBatch === undefined && (status !== undefined || items !== undefined)) {
    const flag = status === undefined ? '--items' : '--status'
    throw new UsageError([`${flag} is about a batch: how far to go. Name the batch with --until-batch.`])
  }
  const targets = { [`"${by}"`]: by, '--to': to, '--steps': steps, '--until-batch': untilBatch }
  const given = Object.entries(targets).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (given.length === 0) {
    throw misuse(
      'needs a target: a duration such as 90s, 10m, 24h, 29d or PT24H, or one of --to, --steps and --until-batch.',
    )
  }
  if (given.length > 1) throw misuse(`takes one target and is given ${given.join(', ')}. Give one of them.`)
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
    ...(omissions.length === 0 ? [] : ['And further events, which are not listed:', ...omissions]),
    ...(stopped === 'limit' ? [`Stopped at the limit of events, at ${to}: run it again to go on.`] : []),
  ]
}

function nextEvent(next: FutureEvent | null): string {
  return next === null ? 'nothing is due' : eventLine(next).trim()
}

type Shown = Pick<RanEvent, 'at' | 'description' | 'from' | 'to' | 'webhook'>

function eventLine({ at, description, from, to, webhook }: Shown): string {
  const move = from === undefined ? '' : ` (${from} to ${to})`
  return `  ${at}  ${description}${move}${webhook === undefined ? '' : attempt(webhook)}`
}

function attempt({ status, ms }: DeliveryAttempt): string {
  return ` [${status === null ? 'no response' : `HTTP ${status}`}, ${ms} ms]`
}
