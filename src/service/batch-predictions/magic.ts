import { didYouMean } from '../../core/did-you-mean.ts'
import type { MagicValue } from '../../core/faults/preset.ts'
import { type Json, valueAt } from '../../core/json.ts'
import type { BatchItem, Complain } from './items.ts'
import type { BatchMove } from './moves.ts'
import type { Metadata, OutcomeRule, Stragglers } from './schema.ts'

/** The prefix of a `custom_id` that requests an outcome. */
const RESERVED = 'emu:'

const ERRORED = 'emu:errored:'
const EXPIRED = 'emu:expired:'
const SLOW = 'emu:slow:'

const ITEM_FORMS = new Map([
  [ERRORED, 'The item is errored.'],
  [
    EXPIRED,
    'The item never finishes, so it expires with the batch at the end of the completion window; the other items finish.',
  ],
  [SLOW, 'The item starts when the others are finished, and takes ten times as long.'],
])

/** The field of `metadata` that requests a scripted course of a batch. */
const SCRIPT = 'emu_script'

const UNTIL_WINDOW = 'until it is released, or its completion window ends'
const HALF = 0.5

const turn = (form: string, description: string, batch: string | BatchMove) =>
  [form, { description, batch }] as const

const SCRIPTS = new Map([
  turn('stuck:validating', `The batch stays validating ${UNTIL_WINDOW}.`, { hold: 'validating' }),
  turn('stuck:in_progress', `The batch stays in_progress ${UNTIL_WINDOW}.`, { hold: 'in_progress' }),
  turn('stuck:finalizing', 'The batch stays finalizing until it is released.', { hold: 'finalizing' }),
  turn('fail:validating', 'The batch has failed while validating before its first poll.', {
    do: 'fail',
    detail: 'The batch failed while validating, because its metadata.emu_script requests it.',
  }),
  turn('fail:in_progress', 'The batch has failed with half of its items finished before its first poll.', {
    finished: HALF,
    do: 'fail',
    detail: 'The batch failed while in progress, because its metadata.emu_script requests it.',
  }),
  turn(
    'expire',
    'The completion window of the batch has ended with half of its items finished before its first poll.',
    { finished: HALF, do: 'expire' },
  ),
  turn('instant', 'The batch is completed before its first poll.', 'instant'),
])

const CREATION = 'batch-predictions.create'

/** Values in a creation that request a fault, like the test cards of a payment provider. Not with `--strict`. */
export const batchMagic: readonly MagicValue[] = [
  {
    place: 'custom_id of an item',
    operation: CREATION,
    values: [...ITEM_FORMS].map(([form, description]) => ({ form: `${form}\u2026`, description })),
  },
  {
    place: `metadata.${SCRIPT}`,
    operation: CREATION,
    values: [...SCRIPTS].map(([form, { description }]) => ({ form, description })),
    actionsOf,
  },
]

// Called for every creation, before its body is checked.
function actionsOf(body: Json): ReturnType<NonNullable<MagicValue['actionsOf']>> {
  const value = valueAt(body, ['metadata', SCRIPT])
  const requested = typeof value === 'string' ? SCRIPTS.get(value) : undefined
  if (typeof value !== 'string' || requested === undefined) return []
  return [{ value, actions: [{ state: { at: 'after-handler', batch: requested.batch } }] }]
}

/** Reports an unknown script, which would otherwise be stored without effect. */
export function checkScript(metadata: Metadata, complain: Complain): void {
  const value = metadata[SCRIPT]
  if (typeof value !== 'string' || SCRIPTS.has(value)) return
  const known = [...SCRIPTS.keys()]
  complain(
    [SCRIPT],
    `must be one of ${known.join(', ')}; emu_script is reserved.${didYouMean(value, known)}`,
    undefined,
    ['U050'],
  )
}

/** Reports items whose `custom_id` has the reserved prefix, but none of its forms. */
export function checkItemForms(items: readonly BatchItem[], complain: Complain): void {
  const known = [...ITEM_FORMS.keys()]
  for (const [index, { custom_id: id }] of items.entries()) {
    // After an issue an item may have anything as its id.
    if (typeof id !== 'string' || !id.startsWith(RESERVED)) continue
    if (known.some((form) => id.startsWith(form))) continue
    const given = /^emu:[^:]*:?/.exec(id)?.[0] ?? id
    const detail = `begins with "${RESERVED}", which is reserved for ${known.join(', ')}.${didYouMean(given, known)} Under --strict it is plain text`
    complain([index, 'custom_id'], detail, id, ['U050'])
  }
}

const ERRORED_RULE: OutcomeRule = {
  match: { custom_id: `${ERRORED}*` },
  status: 'errored',
  detail: `The item is errored because its custom_id begins with ${ERRORED}.`,
}

/** The parts of a plan that items request by their `custom_id`s. */
export function askedByItems(items: readonly BatchItem[]): {
  readonly outcomes: readonly OutcomeRule[]
  readonly late?: Stragglers
} {
  if (!items.some(({ custom_id }) => custom_id.startsWith(RESERVED))) return { outcomes: [] }
  const indexesOf = (form: string) =>
    items.flatMap(({ custom_id }, index) => (custom_id.startsWith(form) ? [index] : []))
  const late = { slow: indexesOf(SLOW), never: indexesOf(EXPIRED) }
  return {
    outcomes: indexesOf(ERRORED).length === 0 ? [] : [ERRORED_RULE],
    ...(late.slow.length + late.never.length > 0 && { late }),
  }
}
