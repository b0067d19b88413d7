import { Chance } from '../../../src/core/random.ts'
import type { Api } from '../../../src/server/http/api.ts'
import type { RawResponse } from './connection.ts'
import { beginInProcess } from './in-process.ts'
import type { Sent } from './request-wire.ts'

export type Strand = readonly (() => void)[]

/** A request as a strand: its head, the chunks of its body, its end. Its response comes after the last step. */
export function requestStrand(
  api: Api,
  sent: Sent,
  pieces: number,
): { readonly strand: Strand; readonly response: Promise<RawResponse | 'closed'> } {
  let feed: (piece: Buffer | null) => void = () => {}
  let give: (response: Promise<RawResponse | 'closed'>) => void = () => {}
  const response = new Promise<RawResponse | 'closed'>((resolve) => {
    give = resolve
  })
  const begin = (): void => {
    const arriving = beginInProcess(api, sent)
    feed = arriving.feed
    give(arriving.response)
  }
  const { body } = sent
  const parts = body === undefined ? [] : cut(body, pieces)
  return { strand: [begin, ...parts.map((part) => () => feed(part)), () => feed(null)], response }
}

function cut(body: Buffer, pieces: number): Buffer[] {
  const size = Math.ceil(body.length / pieces)
  return Array.from({ length: pieces }, (_, n) => body.subarray(n * size, (n + 1) * size)).filter(
    (part) => part.length > 0,
  )
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
    const waiting = left.filter(({ steps }) => steps.length > 0)
    const [first, ...others] = waiting
    if (first === undefined) return word
    const { n, steps } = chance.pick([first, ...others])
    steps.shift()?.()
    const turns = chance.int(0, 2)
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    word += `${n}${'.'.repeat(turns)}`
  }
}
