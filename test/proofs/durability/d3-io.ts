import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { below, type Figure, none, type Proof, tried } from '../proof.ts'
import { type Children, childrenDie } from './d3-children.ts'
import { HOWS, type How, isWorthIt } from './d3-faulty-files.ts'
import { type Beginning, beginning, liveWith, type Verdict } from './d3-life.ts'

/** Every n-th operation is tested (`stride`), and this many real processes. */
const SIZES = {
  short: { stride: 307, children: 1 },
  long: { stride: 1, children: 120 },
}

/** The number of problems that are printed. */
const SHOWN = 10

interface Seen {
  lives: number
  struck: number
  lost: number
  crashes: number
  unreadable: number
}

/** D3: a run of some hundred operations, repeated once for each fault at each of its file operations. */
export const d3: Proof = {
  id: 'D3',
  promise: 'A kill or a system error in any file operation loses no acknowledged write and causes no crash.',
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
      for (const each of leftover) say(`D3: unhandled rejection: ${each}`)
      return figures(seen, operations, leftover.length, await childrenDie(children, say))
    } finally {
      process.off('unhandledRejection', onLeftover)
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

function figures(seen: Seen, operations: number, leftover: number, children: Children): Figure[] {
  return [
    tried('file operations of a run', operations),
    tried('runs with one fault', `${seen.lives} of 8 kinds: ${HOWS.join(', ')}`),
    // Runs can have a few operations more or fewer than the counted one.
    below('runs in which the fault did not occur', seen.lives - seen.struck, Math.max(5, seen.lives / 20)),
    none('runs that lost an acknowledged write', seen.lost),
    none('runs with an error other than that of the system', seen.crashes),
    none('runs that left an unreadable or partial file', seen.unreadable),
    none('unhandled rejections', leftover),
    tried('real processes with one fault', `${children.lives}; the fault occurred in ${children.struck}`),
    none('acknowledged pages lost by them', children.lost),
    none('refused pages created by them', children.doubled),
    none('crashes of them', children.crashes),
    none('unreadable files left by them', children.unreadable),
  ]
}

/** @returns the number of operations in a run of this kind */
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
  // Kinds start at different operations, so that a sample is spread over the run.
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
