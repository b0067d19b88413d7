import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import type { ScriptProblem } from '../../kernel/scenario/source.ts'

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
const LONGEST_MESSAGE = 2_000

/** What a thrown value says, and the place among the user's own files that it comes from; else `file` as a whole. */
export function problemOf(thrown: unknown, file: string): ScriptProblem {
  const problem = problemIn(thrown, file)
  return { ...problem, message: problem.message.slice(0, LONGEST_MESSAGE) }
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
  return /[\\/]node_modules[\\/]|scenario-worker\.js$|[\\/]src[\\/]doors[\\/]scenarios[\\/]/.test(path)
}
