import { isAbout, TOPICS, type Topic } from '../control-client/advance-summary.ts'
import { advanceToTarget, type TargetOf } from '../control-client/clock.ts'
import { parseDuration } from '../core/time/instant.ts'
import type { AdvanceResult } from '../core/time/scheduler.ts'
import { choiceOption, listOption, optional, toggle } from '../emulator/option.ts'
import { instant, rate as speed } from '../emulator/options.ts'
import { EVENT_TYPES } from '../server/control/event-types.ts'
import { call, isOn, sandboxCommand } from '../terminal/call-command.ts'
import { advanceLines, eventLine, happened, nextEvent, speedOf } from '../terminal/clock-lines.ts'
import {
  argumentOf,
  described,
  freeText,
  kinds,
  type OptionValues,
  SHARED,
  UsageError,
} from '../terminal/options.ts'
import { show } from '../terminal/print.ts'

/** The target of an advance. The emulator checks the goal, so its type is open here. */
type Target = TargetOf<object>

const ADVANCE_OPTIONS = {
  to: optional(instant, 'none', 'virtual instant to advance to'),
  steps: optional(kinds.count, 'none', 'number of events to advance over'),
  untilBatch: freeText('id', 'batch to advance for, until it is terminal'),
  status: described(SHARED.status, 'status of the batch to advance to, instead of its end'),
  items: optional(kinds.count, 'none', 'finished items of the batch to advance to, instead of its end'),
  maxEvents: optional(kinds.count, 'none', 'stop after this many events, even before the target'),
  all: toggle('list each event on its own line, repeated ones too'),
  only: optional(choiceOption('topic', TOPICS), 'all', 'events of batches, webhooks or automations only'),
  stable: SHARED.stable,
}

export const clockCommands = [
  call('clock', 'GET /clock', { description: 'Show the virtual clock', lines: clockLines }),
  sandboxCommand('clock advance', {
    description:
      'Advance the virtual clock by a duration, or to the target of --to, --steps or --until-batch; all due events run',
    args: { '[duration]': 'such as 90s, 10m, 24h, 29d or PT24H' },
    options: ADVANCE_OPTIONS,
    run: async (ask, invocation) => {
      const { args, options } = invocation
      const target = { ...targetOf(args[0], options), max_events: options.maxEvents }
      const query = { stable: isOn(options.stable) }
      const advance = (body: Target) => ask('POST /clock/advance', { body, query })
      const result = selected(await advanceToTarget(advance, target), options.only)
      return show(invocation, result, advanceLines(result, options))
    },
  }),
  call('clock rate', 'PATCH /clock', {
    description: 'Choose how fast the virtual clock runs',
    args: { '<rate>': 'virtual seconds per real second; 0 freezes the clock' },
    body: ({ rate }) => ({ rate: argumentOf('rate', speed, rate) }),
    lines: clockLines,
  }),
  sandboxCommand('events', {
    description:
      'List the future events of the virtual clock; with --follow print events as they happen until Ctrl-C',
    options: {
      follow: SHARED.follow,
      type: listOption(choiceOption('type', EVENT_TYPES), {
        description: `only events of this type: ${EVENT_TYPES.join(', ')}; may be repeated`,
      }),
    },
    run: async (ask, invocation) => {
      const { options } = invocation
      if (options.follow) {
        const types = options.type.length === 0 ? undefined : options.type
        const { follow } = await import('./follow.ts')
        return follow(invocation, { types }, (event) => show(invocation, event, happened(event)))
      }
      const body = await ask('GET /clock/horizon')
      const lines = body.data.map((event) => eventLine(event).trim())
      return show(invocation, body, lines.length === 0 ? ['Nothing is due.'] : lines)
    },
  }),
]

function clockLines(clock: Parameters<typeof speedOf>[0]): string[] {
  const { now, skip_on_poll, next, frozen } = clock
  const skips = skip_on_poll ? ', skips on poll' : ''
  const lines = [`${now}, ${speedOf(clock)}${skips}`, `next: ${nextEvent(next)}`]
  return frozen === null ? lines : [...lines, frozen]
}

/** The body of the request. The emulator checks the values. Throws {@link UsageError} unless exactly one target is given. */
function targetOf(by: string | undefined, options: OptionValues<typeof ADVANCE_OPTIONS>): Target {
  const { to, steps, untilBatch, status, items } = options
  const goal = untilBatch === undefined ? {} : { until: { batch: untilBatch, status, finished_items: items } }
  if (by !== undefined && parseDuration(by) === undefined)
    throw new UsageError([
      `<duration>: "${by}" is not a duration. Give one such as 250ms, 90s, 10m, 24h, 29d or PT24H, or an instant with --to 2030-01-01T00:00:00Z.`,
    ])
  const targets = [by, to, steps, untilBatch].filter((target) => target !== undefined)
  if (targets.length !== 1) {
    throw new UsageError([
      'clock advance needs one target: a duration such as 90s, 10m, 24h, 29d or PT24H, or one of --to, --steps and --until-batch.',
    ])
  }
  if (untilBatch === undefined && (status !== undefined || items !== undefined))
    throw new UsageError(['--status and --items need a batch. Name it with --until-batch.'])
  return { by, to, steps, ...goal } as Target
}

/** The result with the events of one topic only; undefined: all events. */
function selected(result: AdvanceResult, topic: Topic | undefined): AdvanceResult {
  if (topic === undefined) return result
  const { events, failed, omitted = {}, ...rest } = result
  const isSelected = ({ kind }: { readonly kind: string }) => isAbout(topic, kind)
  const counts = Object.entries(omitted).filter(([kind]) => isAbout(topic, kind))
  return {
    ...rest,
    events: events.filter(isSelected),
    failed: failed.filter(isSelected),
    ...(counts.length > 0 && { omitted: Object.fromEntries(counts) }),
  }
}
