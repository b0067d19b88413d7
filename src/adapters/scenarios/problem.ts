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

/** One line for people, in a form that editors turn into a link: `file:line:column: pointer: message`. */
export function problemLine({ file, line, column, pointer, message }: ScriptProblem): string {
  const place = [file, line, line === undefined ? undefined : column].filter((each) => each !== undefined)
  return [place.join(':'), pointer, message].filter((each) => each !== undefined && each !== '').join(': ')
}

/** Characters that are kept of the message of a thrown value. */
const MAX_MESSAGE_LENGTH = 2_000

/** The message of a thrown value, and the place in the user's files where it was thrown; without one, `file` as a whole. */
export function problemOf(thrown: unknown, file: string): ScriptProblem {
  const problem = problemIn(thrown, file)
  return { ...problem, message: problem.message.slice(0, MAX_MESSAGE_LENGTH) }
}

function problemIn(thrown: unknown, file: string): ScriptProblem {
  if (!(thrown instanceof Error))
    return { file, message: `threw ${inspect(thrown, { depth: 1 })}, which is not an Error` }
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

// The loader reports the place of a syntax error on a separate line.
const SYNTAX = /^([\s\S]*?) ?\n (.*):(\d+):(\d+)$/

const FRAME = /^\s+at (?:.*\()?((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/]).*?):(\d+):\d+\)?$/

// Only the line is used: the compilation of a script keeps lines, but not columns.
function firstOwnFrame(stack: string): { file: string; line: number } | undefined {
  for (const text of stack.split('\n')) {
    const [, path = '', line] = FRAME.exec(text) ?? []
    if (path === '' || isOurs(path)) continue
    return { file: path.startsWith('file:') ? fileURLToPath(path) : path, line: Number(line) }
  }
  return undefined
}

// The packages that scripts are loaded with, and the files of the emulator in the process.
function isOurs(path: string): boolean {
  return /[\\/]node_modules[\\/]|scenario-process\.c?js$|[\\/]src[\\/]adapters[\\/]scenarios[\\/]/.test(path)
}

/** A message about the scenarios folder to the user of the emulator. */
export interface ScenarioNotice {
  readonly level: 'info' | 'warn'
  readonly event:
    | 'scenarios_loaded'
    | 'scenario_broken'
    | 'scenario_output'
    | 'scenario_failed'
    | 'scenarios_unwatched'
  /** The problem, its place, its cause and its fix. */
  readonly message: string
  readonly file?: string
  /** Counted from 1. */
  readonly line?: number
}

export type OnScenarioNotice = (notice: ScenarioNotice) => void

/** Problems of one file that one notice names. */
const TOLD = 5

/** The notices of a swap: that scenarios were loaded, and each file with new problems. */
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
  // The first load at the start is expected, so it is not reported.
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
      : `The last valid version (generation ${generation}) stays in force.`
  return {
    level: 'warn',
    event: 'scenario_broken',
    message: `${[...told, ...more].join('; ')}. ${inForce}`,
    file,
    ...(line === undefined ? {} : { line }),
  }
}
