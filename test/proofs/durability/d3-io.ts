import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { below, type Figure, none, type Proof, tried } from '../proof.ts'
import { type Children, childrenDie } from './d3-children.ts'
import { HOWS, type How, isWorthIt } from './d3-faulty-files.ts'
import { type Beginning, beginning, liveWith, type Verdict } from './d3-life.ts'

/** Each so-manieth operation, and how many real processes. */
const SIZES = {
  short: { stride: 307, children: 1 },
  long: { stride: 1, children: 120 },
}

/** So many faults are shown. */
const SHOWN = 10

interface Seen {
  lives: number
  struck: number
  lost: number
  crashes: number
  unreadable: number
}

/** D3: a life of some hundred operations, once for each thing that can happen to each of its file operations. */
export const d3: Proof = {
  id: 'D3',
  promise:
    'Whatever file operation a process dies in, or is refused by the system, nothing acknowledged is lost and nothing crashes.',
  run: async (scale, say) => {
    const { stride, children } = SIZES[scale]
    const folder = mkdtempSync(join(tmpdir(), 'workspace-proof-'))
    const leftover: string[] = []
    const onLeftover = (error: unknown): void => void leftover.push(String(error))
    process.on('unhandledRejection', onLeftover)
    try {
      mkdirSync(join(folder, 'beginning'))
      const begin = await beginning(join(folder, 'beginning'))
      const seen: Seen = { lives: 0, struck: 0, lost: 0, crashes: 0, unreadable: 0 }
      let operations = 0
      for (const how of HOWS) {
        operations = Math.max(operations, await liveWithEach(how, stride, folder, begin, seen, say))
        say(`D3: ${how}: done, ${seen.lives} lives so far`)
      }
      for (const each of leftover) say(`D3: nobody has handled ${each}`)
      return figures(seen, operations, leftover.length, await childrenDie(children, say))
    } finally {
      process.off('unhandledRejection', onLeftover)
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

function figures(seen: Seen, operations: number, leftover: number, children: Children): Figure[] {
  return [
    tried('file operations of a life', operations),
    tried('lives with one fault', `${seen.lives} of 8 kinds: ${HOWS.join(', ')}`),
    // A life has a few operations more or less than the one that was counted.
    below('lives in which it did not strike', seen.lives - seen.struck, Math.max(5, seen.lives / 20)),
    none('lives after which something acknowledged was lost', seen.lost),
    none('lives with any error but that of the system', seen.crashes),
    none('lives that left something unreadable or half written', seen.unreadable),
    none('rejections that nobody handled', leftover),
    tried('real processes with one fault', `${children.lives}, which struck in ${children.struck}`),
    none('acknowledged pages lost by them', children.lost),
    none('refused pages made by them', children.doubled),
    none('crashes of them', children.crashes),
    none('unreadable files left by them', children.unreadable),
  ]
}

/** @returns how many operations a life of this kind has */
async function liveWithEach(
  how: How,
  stride: number,
  folder: string,
  begin: Beginning,
  seen: Seen,
  say: (line: string) => void,
): Promise<number> {
  const undisturbed = await liveWith(Number.POSITIVE_INFINITY, how, folder, begin)
  judge(undisturbed, `${how} at no operation`, seen, say)
  const worthIt = undisturbed.operations.flatMap((name, n) => (isWorthIt(name, how) ? [n + 1] : []))
  // Kinds begin at different operations, so that a sample is spread over the life.
  for (let n = HOWS.indexOf(how) % stride; n < worthIt.length; n += stride) {
    const at = worthIt[n] ?? 1
    const verdict = await liveWith(at, how, folder, begin)
    judge(verdict, `${how} at operation ${at}, ${verdict.operations[at - 1]}`, seen, say)
    seen.lives += 1
    if (verdict.struck) seen.struck += 1
  }
  return undisturbed.operations.length
}

function judge(
  { lost, crashes, unreadable }: Verdict,
  where: string,
  seen: Seen,
  say: (line: string) => void,
): void {
  const wrong = [...lost, ...crashes, ...unreadable]
  if (wrong.length > 0 && seen.lost + seen.crashes + seen.unreadable < SHOWN)
    say(`D3: ${where}: ${wrong.join('; ')}`)
  if (lost.length > 0) seen.lost += 1
  if (crashes.length > 0) seen.crashes += 1
  if (unreadable.length > 0) seen.unreadable += 1
}
