import { Chance } from '../../../src/core/random.ts'
import type { Arriving } from './connection.ts'

export type Strand = readonly (() => void)[]

/** A request as a strand: its head, then the chunks of its body. */
export function requestStrand({ write }: Arriving, bytes: Buffer, pieces: number): Strand {
  const head = bytes.indexOf('\r\n\r\n') + 4
  const size = Math.ceil((bytes.length - head) / pieces)
  const parts = Array.from({ length: pieces }, (_, n) =>
    bytes.subarray(head).subarray(n * size, (n + 1) * size),
  )
  return [bytes.subarray(0, head), ...parts]
    .filter(({ length }) => length > 0)
    .map((part) => () => write(part))
}

/**
 * Runs the steps of all strands, each strand in its own order, interleaved at random by the seed. Between two steps, zero to
 * two turns of the event loop pass.
 * @returns the interleaving as text, to count different ones
 */
export async function interleave(strands: readonly Strand[], seed: number): Promise<string> {
  const chance = new Chance(seed, 'interleave')
  const left = strands.map((strand, n) => ({ n, steps: [...strand] }))
  let word = ''
  for (;;) {
    const [first, ...others] = left.filter(({ steps }) => steps.length > 0)
    if (first === undefined) return word
    const { n, steps } = chance.pick([first, ...others])
    steps.shift()?.()
    const turns = chance.int(0, 2)
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    word += `${n}${'.'.repeat(turns)}`
  }
}
