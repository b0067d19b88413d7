import { START } from '../../support/base-state.ts'
import { atLeast, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { type Exchange, record, replay, whole } from './replay.ts'
import { inWords } from './request-wire.ts'
import { type Variant, variants } from './variants.ts'

const SIZES = {
  short: 400,
  long: 10_000,
} as const satisfies Record<Scale, number>

const SEED = 20_260_305

const MAX_TOLD = 5

export const f5: Proof = {
  id: 'F5',
  promise:
    'No response depends on the order of records, lists, result lines or fields, or on the instant at which a sandbox starts.',
  run: async (scale, say) => {
    const requests = SIZES[scale]
    const script = await record(requests, SEED)
    const figures: Figure[] = [tried('seed', SEED), tried('requests of the script', requests)]
    for (const variant of variants(SEED)) {
      say(`F5: ${variant.name}`)
      figures.push(...(await compare(script, variant, say)))
    }
    return figures
  },
}

async function compare(
  script: readonly Exchange[],
  { name, setting, leavesOut = () => false, normal = whole, start = Date.parse(START) }: Variant,
  say: (line: string) => void,
): Promise<readonly Figure[]> {
  const responses = await replay(script, setting)
  let different = 0
  let shown = 0
  for (const [n, exchange] of script.entries()) {
    const response = responses[n]
    if (response === undefined) continue
    if (whole(exchange.response) !== whole(response)) shown += 1
    if (leavesOut(exchange)) continue
    const [first, second] = [normal(exchange.response, Date.parse(START)), normal(response, start)]
    if (first === second) continue
    different += 1
    if (different <= MAX_TOLD)
      say(`F5: ${name}, request ${n}: ${inWords(exchange.sent)}\n  was ${first}\n  is  ${second}`)
  }
  const figure = none(`${name}: responses that differ`, different)
  // If no response differs before normalization, the variant tests nothing.
  return normal === whole
    ? [figure]
    : [atLeast(`${name}: responses in which it is visible`, shown, 1), figure]
}
