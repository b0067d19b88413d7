import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import type { ScenarioEntry, ScriptProblem } from '../../core/scenarios/source.ts'
import { counted } from '../../core/words.ts'

/** A scenario, or a function of one, that cannot be used. */
export class ScenarioError extends Error {
  readonly problem: ScriptProblem

  constructor(problem: ScriptProblem) {
    super(problemLine(problem))
    this.name = 'ScenarioError'
    this.problem = problem
  }
}

/** One line for people, in the form that editors make a link of: `file:line:column: pointer: message`. */
export function problemLine({ file, line, column, pointer, message }: ScriptProblem): string {
  const place = [file, line, line === undefined ? undefined : column].filter((each) => each !== undefined)
  return [place.join(':'), pointer, message].filter((each) => each !== undefined && each !== '').join(': ')
}

/** Characters of what a script has thrown that are kept. */
const MAX_MESSAGE_LENGTH = 2_000

/** What a thrown value says, and the place among the user's own files that it comes from; else `file` as a whole. */
export function problemOf(thrown: unknown, file: string): ScriptProblem {
  const problem = problemIn(thrown, file)
  return { ...problem, message: problem.message.slice(0, MAX_MESSAGE_LENGTH) }
}

function problemIn(thrown: unknown, file: string): ScriptProblem {
  if (!(thrown instanceof Error))
    return { file, message: `threw ${inspect(thrown, { depth: 1 })}, which is no Error` }
  const syntax = SYNTAX.exec(thrown.message)
  if (syntax !== null) {
    const [, message = '', at = file, line, column] = syntax
    return { file: at, line: Number(line), column: Number(column) + 1, message: message.trim() }
  }
  const [first = ''] = thrown.message.split('\n')
  const message = thrown.name === 'Error' ? first : `${thrown.name}: ${first}`
  const place = firstOwnFrame(thrown.stack ?? '')
  return { file, ...place, message: message === '' ? 'threw an Error without a message' : message }
}

// How the loader tells where it has stopped parsing, on a line of its own.
const SYNTAX = /^([\s\S]*?) ?\n (.*):(\d+):(\d+)$/

const FRAME = /^\s+at (?:.*\()?((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/]).*?):(\d+):\d+\)?$/

// Lines survive the translation of a script, columns do not.
function firstOwnFrame(stack: string): { file: string; line: number } | undefined {
  for (const text of stack.split('\n')) {
    const [, path = '', line] = FRAME.exec(text) ?? []
    if (path === '' || isOurs(path)) continue
    return { file: path.startsWith('file:') ? fileURLToPath(path) : path, line: Number(line) }
  }
  return undefined
}

// The packages that scripts are loaded with, and the file that this code stands in.
function isOurs(path: string): boolean {
  return /[\\/]node_modules[\\/]|scenario-process\.c?js$|[\\/]src[\\/]adapters[\\/]scenarios[\\/]/.test(path)
}

/** What the scenarios folder has to say to the owner of the emulator. */
export interface ScenarioNotice {
  readonly level: 'info' | 'warn'
  readonly event:
    | 'scenarios_loaded'
    | 'scenario_broken'
    | 'scenario_output'
    | 'scenario_failed'
    | 'scenarios_unwatched'
  /** Everything there is to say: what, where, why, and the way out. */
  readonly message: string
  readonly file?: string
  /** Counted from 1. */
  readonly line?: number
}

export type OnScenarioNotice = (notice: ScenarioNotice) => void

/** Problems of one file that one notice names. */
const TOLD = 5

/** What a swap says: that it has been, and every file whose problems are new. */
export function noticesOf(
  swap: { readonly generation: number; readonly changed: boolean; readonly broken: readonly ScenarioEntry[] },
  entries: readonly ScenarioEntry[],
): ScenarioNotice[] {
  const valid = entries.filter((entry) => entry.valid).length
  const loaded: ScenarioNotice = {
    level: 'info',
    event: 'scenarios_loaded',
    message: `${counted(valid, 'scenario')} loaded (generation ${swap.generation})`,
  }
  // That a start has loaded everything is expected.
  const isNews = swap.changed && swap.generation > 1
  return [...(isNews ? [loaded] : []), ...swap.broken.map(broken)]
}

function broken({ file, generation, problems }: ScenarioEntry): ScenarioNotice {
  const line = problems[0]?.line
  const told = problems.slice(0, TOLD).map(problemLine)
  const more = problems.length > TOLD ? [`and ${problems.length - TOLD} more`] : []
  const inForce =
    generation === null
      ? 'It is not loaded.'
      : `What was valid last (generation ${generation}) stays in force.`
  return {
    level: 'warn',
    event: 'scenario_broken',
    message: `${[...told, ...more].join('; ')}. ${inForce}`,
    file,
    ...(line === undefined ? {} : { line }),
  }
}
