import * as z from 'zod'
import { intBetween } from '../../fields.ts'
import { either, form, membersOf, nameAmong, someOf } from '../../strict-input.ts'
import { type BodyPlace, type NamedStage, STAGES, type Stage } from '../actions.ts'

/** No body is larger: places beyond it would never be reached. */
export const MAX_BYTES = 1_073_741_824

const PLACES = ['bytes', 'fraction', 'line'] as const

const place = {
  bytes: intBetween(0, MAX_BYTES).optional(),
  fraction: z.number().min(0).max(1).optional(),
  line: intBetween(0, 1_000_000).optional(),
  plus_bytes: intBetween(-MAX_BYTES, MAX_BYTES).optional(),
}

/** A place in the body of an answer. */
export function bodyPlace(): z.ZodType<BodyPlace> {
  return someOf(place).refine(hasOnePlace, { error: `must have exactly one of ${PLACES.join(', ')}` })
}

/** A named stage, a place in the body of the request, or one in that of the answer. */
export function stage(): z.ZodType<Stage> {
  const shape = { request_bytes: intBetween(0, MAX_BYTES).optional(), ...place }
  const somewhere = someOf(shape).refine(
    (value) => (value.request_bytes === undefined ? hasOnePlace(value) : membersOf(value).length === 1),
    { error: 'must have request_bytes alone, or exactly one of bytes, fraction and line' },
  )
  const all = `one of ${STAGES.join(', ')}, or a place such as {"bytes": 100}, {"fraction": 0.5}, {"line": 2}`
  return either<Stage>(
    `must be ${all}`,
    form.text(nameAmong<NamedStage>(STAGES, 'stage', ` It is ${all}.`)),
    form.object(somewhere),
  )
}

function hasOnePlace(value: BodyPlace): boolean {
  return PLACES.filter((name) => value[name] !== undefined).length === 1
}
