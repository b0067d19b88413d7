import type { SourceMap, SourceMapping } from 'node:module'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import type { ScenarioEntry, ScriptProblem } from '../../core/scenarios/source.ts'
import { counted, sentence } from '../../core/words.ts'
import { shippedFile } from '../package.ts'

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

/** The compiled files of scripts, each with the source map to its lines. */
export type Places = ReadonlyMap<string, SourceMap>

const placesInForce = new Map<string, SourceMap>()

/** Keeps the places of scripts that have been evaluated, for the errors of their functions. */
export function registerPlaces(places: Places): void {
  for (const [file, map] of places) placesInForce.set(file, map)
}

/** The message of a thrown value, and the place in the user's files where it was thrown; without one, `file` as a whole. */
export function problemOf(thrown: unknown, file: string, places: Places = placesInForce): ScriptProblem {
  if (thrown instanceof ScenarioError) return thrown.problem
  const message = messageOf(thrown).slice(0, MAX_MESSAGE_LENGTH)
  return { file, ...firstLocation(thrown, places), message }
}

/**
 * The report of an error that nothing has caught, if it comes from a script, for example from one of its timers; undefined for
 * an error of the emulator itself.
 */
export function lateErrorLine(thrown: unknown): string | undefined {
  const place = firstLocation(thrown, placesInForce)
  if (place === undefined && (placesInForce.size === 0 || isOurs(thrown))) return undefined
  // The stack of an error inside Node, as of fetch, may name no file.
  const file = place?.file ?? [...placesInForce.keys()].join(' or ')
  const line = problemLine({ file, ...place, message: messageOf(thrown).slice(0, MAX_MESSAGE_LENGTH) })
  return `${line} (a scenario script threw this outside of any call; the emulator continues)`
}

function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `threw ${inspect(thrown, { depth: 1 })}, which is not an Error`
  const [first = ''] = thrown.message.split('\n')
  const message = thrown.name === 'Error' ? first : `${thrown.name}: ${first}`
  return message === '' ? 'threw an Error without a message' : message
}

const FRAME = /^\s+at (?:.*\()?((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/]).*?):(\d+):(\d+)\)?$/

function framesOf(thrown: unknown): { file: string; line: number; column: number }[] {
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : ''
  return stack.split('\n').flatMap((text) => {
    const [, path = '', line, column] = FRAME.exec(text) ?? []
    const file = path.startsWith('file:') ? fileURLToPath(path) : path
    return file === '' ? [] : [{ file, line: Number(line), column: Number(column) }]
  })
}

const written = new WeakMap<object, Error>()

/** Notes the place of the call as that of a definition, and returns the definition. */
export function noted<T extends object>(definition: T): T {
  const here = new Error('the place of a definition')
  Error.captureStackTrace(here, noted)
  written.set(definition, here)
  return definition
}

/** Where a definition was noted; undefined when it was not. */
export function placeNoted(definition: object): { file: string; line: number } | undefined {
  const here = written.get(definition)
  return here && (firstLocation(here, placesInForce) ?? framesOf(here)[0])
}

function firstLocation(thrown: unknown, places: Places) {
  for (const { file, line, column } of framesOf(thrown)) {
    const map = places.get(file)
    if (map === undefined) continue
    const { originalLine, originalColumn } = map.findEntry(line - 1, column - 1) as Partial<SourceMapping>
    if (originalLine === undefined || originalColumn === undefined) return { file, line }
    return { file, line: originalLine + 1, column: originalColumn + 1 }
  }
  return undefined
}

function isOurs(thrown: unknown): boolean {
  const own = [shippedFile('dist'), shippedFile('src')]
  return framesOf(thrown).some(({ file }) => own.some((folder) => file.startsWith(`${folder}${sep}`)))
}

/** A message about the scenarios folder to the user of the emulator. */
export interface ScenarioNotice {
  readonly level: 'info' | 'warn'
  readonly event:
    | 'scenarios_loaded'
    | 'scenario_broken'
    | 'scenario_output'
    | 'scenario_failed'
    | 'endpoints_loaded'
    | 'endpoints_broken'
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
    message: `${sentence([...told, ...more].join('; '))} ${inForce}`,
    file,
    ...(line === undefined ? {} : { line }),
  }
}
