import type { JsonObject } from '../../kernel/json.ts'
import { parseDuration } from '../../kernel/time/duration.ts'
import { ask } from './control-client.ts'
import type { ADVANCE_OPTIONS, Invocation } from './invocation.ts'
import { show } from './print.ts'
import { receiptLines } from './receipt-lines.ts'
import { UsageError } from './usage.ts'

type AdvanceInvocation = Invocation<(typeof ADVANCE_OPTIONS)[number]>
type Targets = Partial<AdvanceInvocation['options']> & { readonly by?: string | undefined }

const NAME = 'clock advance'
const SUCH_AS = 'a duration such as 90s, 10m, 24h, 29d or PT24H'

/** `clock advance`: lets time pass up to a target and lists what happened on the way. */
export async function advance({ args, options, terminal }: AdvanceInvocation): Promise<number> {
  const target = targetOf({ ...options, by: args[0] })
  const receipt = await ask(options, 'POST', '/clock/advance', target)
  return show({ options, terminal }, receipt, receiptLines(receipt))
}

/** The body of the request; refuses everything but exactly one target. */
function targetOf({ by, to, steps, untilBatch, status, items }: Targets): JsonObject {
  refuseStrayGoals({ untilBatch, status, items })
  const targets = { [`"${by}"`]: by, '--to': to, '--steps': steps, '--until-batch': untilBatch }
  const given = Object.entries(targets).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (given.length === 0) {
    throw new UsageError([`${NAME} needs a target: ${SUCH_AS}, or one of --to, --steps and --until-batch.`])
  }
  if (given.length > 1) {
    throw new UsageError([`${NAME} takes one target and is given ${given.join(', ')}. Give one of them.`])
  }
  if (to !== undefined) return { to }
  if (steps !== undefined) return { steps }
  if (untilBatch !== undefined) {
    const status_ = status === undefined ? {} : { status }
    return {
      until: { batch: untilBatch, ...status_, ...(items === undefined ? {} : { finished_items: items }) },
    }
  }
  if (parseDuration(by ?? '') === undefined) {
    throw new UsageError([
      `${NAME}: "${by}" is not a duration. Give one such as 90s, 10m, 24h, 29d or PT24H.`,
    ])
  }
  return { by: by ?? '' }
}

function refuseStrayGoals({ untilBatch, status, items }: Targets): void {
  if (status !== undefined && items !== undefined) {
    throw new UsageError([
      `${NAME} takes --status or --items, not both. Without either, time passes until the batch is terminal.`,
    ])
  }
  if (untilBatch !== undefined || (status === undefined && items === undefined)) return
  const stray = status === undefined ? '--items' : '--status'
  throw new UsageError([`${stray} says of a batch how far to go. Name the batch with --until-batch.`])
}
