import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { createJiti, type Jiti } from 'jiti'
import { didYouMean } from '../../core/did-you-mean.ts'
import { type Issue, isObject, type JsonObject, pointer } from '../../core/json.ts'
import type { FunctionRef } from '../../core/scenarios/row.ts'
import type { ScenarioCommand, ScenarioSnapshot } from '../../core/scenarios/source.ts'
import {
  type BatchHandle,
  type BatchList,
  defineScenario,
  type HookContext,
  type HookFunction,
  type StepFunction,
} from './define-scenario.ts'
import type { LoadedScript } from './protocol.ts'

const NO_EXPORT =
  'has no default export. Write export default defineScenario({...}); move a helper file into a subfolder, or give it a name that starts with _'

/** The scripts of one folder. Each is evaluated once, with its imports. TypeScript is compiled without a type check. */
export class Scripts {
  readonly #folder: string
  readonly #jiti: Jiti
  readonly #ours: ReadonlySet<string>
  readonly #scenarios = new Map<string, object>()

  constructor(folder: string) {
    this.#folder = folder
    this.#jiti = createJiti(join(folder, 'scenario.js'), {
      fsCache: false,
      rebuildFsCache: false,
      moduleCache: true,
      interopDefault: true,
      sourceMaps: false,
      tryNative: false,
      tsconfigPaths: false,
      debug: false,
      // Scripts need only this function of the emulator, and can import it wherever the package is installed.
      virtualModules: { 'agent-workspace-emulator': { defineScenario } },
    })
    this.#ours = new Set(Object.keys(this.#jiti.cache))
  }

  async load(file: string): Promise<LoadedScript> {
    const source = readFileSync(file, 'utf8')
    if (source.trim() === '') throw new Error('is empty')
    // Always compiled by jiti: Node itself would search for our package among the installed ones.
    if (!this.#jiti.cache[file]?.loaded) {
      await this.#jiti.evalModule(source, { filename: file, async: true, forceTranspile: true })
    }
    const scenario = exportOf(this.#jiti.cache[file]?.exports)
    this.#scenarios.set(file, scenario)
    return plainData(scenario, mayBeFunction)
  }

  /** A function of a script that has been loaded. Callers make sure that it exists. */
  find(file: string, ref: FunctionRef): unknown {
    const { timeline, on } = this.#scenarios.get(file) as {
      readonly timeline?: readonly { readonly do?: unknown }[]
      readonly on?: Readonly<Record<string, unknown>>
    }
    return 'on' in ref ? on?.[ref.on] : timeline?.[ref.timeline]?.do
  }

  /** The files that were imported from outside the folder, without packages. */
  outside(): string[] {
    return Object.keys(this.#jiti.cache).filter(
      (file) => !this.#ours.has(file) && !file.includes(`${sep}node_modules${sep}`) && this.#isOutside(file),
    )
  }

  #isOutside(file: string): boolean {
    return relative(this.#folder, file).startsWith('..')
  }
}

function mayBeFunction(path: readonly string[]): boolean {
  return path.length === 3
    ? path[0] === 'timeline' && path[2] === 'do'
    : path.length === 2 && path[0] === 'on'
}

function exportOf(module: unknown): object {
  const isCommonJs = typeof module !== 'object' || module === null || !Object.hasOwn(module, '__esModule')
  const exported = isCommonJs ? module : (module as { readonly default?: unknown }).default
  // Without exports, a CommonJS module is an empty object. In other modules an empty object is a valid scenario.
  if (exported === undefined || (isCommonJs && isObject(exported) && Object.keys(exported).length === 0)) {
    throw new Error(NO_EXPORT)
  }
  if (isObject(exported)) return exported
  throw new Error('exports no scenario: it must be an object')
}

/** Runs a function of a scenario on a snapshot. Resolves with its commands after it has returned; rejects with its error. */
export async function runFunction(
  run: StepFunction | HookFunction,
  snapshot: ScenarioSnapshot,
): Promise<readonly ScenarioCommand[]> {
  const commands: ScenarioCommand[] = []
  let returned = false
  const queue = (command: ScenarioCommand): void => {
    if (returned) throw new Error('The function has already returned; await every promise before it returns.')
    commands.push(plain(command, command.kind))
  }
  await run(contextOf(snapshot, queue))
  returned = true
  return commands
}

/** Characters of one line for the log. */
const MAX_LOG = 10_000

type Queue = (command: ScenarioCommand) => void

function contextOf(snapshot: ScenarioSnapshot, queue: Queue): HookContext {
  const { now, event, collections } = snapshot
  const batches = batchList(snapshot, queue)
  const states = new Map<string, readonly JsonObject[]>()
  const state = (collection: string): readonly JsonObject[] => {
    const known = states.get(collection)
    if (known !== undefined) return known
    if (!collections.includes(collection)) {
      throw new Error(`There is no collection "${collection}".${didYouMean(String(collection), collections)}`)
    }
    const records = snapshot.state(collection)
    states.set(collection, records)
    return records
  }
  return {
    batches,
    clock: { now },
    faults: {
      arm: (rule) => queue({ kind: 'arm', rule: rule as JsonObject }),
      clear: (id) => queue({ kind: 'clear', ...(id === undefined ? {} : { id: name(id, 'The id') }) }),
    },
    sandbox: {
      log: (text) => queue({ kind: 'log', text: String(text).slice(0, MAX_LOG) }),
      state,
      put: (collection, record) =>
        queue({ kind: 'put', collection: name(collection, 'The collection'), record: identified(record) }),
      delete: (collection, id) =>
        queue({ kind: 'delete', collection: name(collection, 'The collection'), id: name(id, 'The id') }),
    },
    // Undefined for a step: only the type of hooks has the event.
    event: event as HookContext['event'],
    get batch(): BatchHandle {
      const found = snapshot.record === undefined ? undefined : batches.get(snapshot.record)
      if (found !== undefined) return found
      const why =
        snapshot.record === undefined ? 'is about no batch' : `is about ${snapshot.record}, which was deleted`
      throw new Error(
        `${event === undefined ? 'A step of the timeline' : event.name} ${why}; do not use "batch" here.`,
      )
    },
  }
}

function batchList(snapshot: ScenarioSnapshot, queue: Queue): BatchList {
  let all: readonly BatchHandle[] | undefined
  const list = (): readonly BatchHandle[] => {
    all ??= snapshot.records().map((batch) => handle(batch, queue))
    return all
  }
  return { list, latest: () => list().at(-1), get: (id) => list().find((batch) => batch.id === id) }
}

/** The batch with its moves, which are not enumerable. */
function handle(batch: JsonObject, queue: Queue): BatchHandle {
  const id = String(batch.id)
  const move =
    (move: 'fail' | 'complete' | 'expire' | 'cleanup' | 'change', takesBody: boolean) =>
    (body: unknown = {}) =>
      queue({ kind: 'move', id, move, body: takesBody ? (body as JsonObject) : {} })
  return Object.defineProperties(
    { ...batch },
    {
      fail: { value: move('fail', true) },
      complete: { value: move('complete', false) },
      expire: { value: move('expire', false) },
      cleanup: { value: move('cleanup', false) },
      change: { value: move('change', true) },
    },
  ) as unknown as BatchHandle
}

// Copies the value, so that later changes by the function do not affect the command.
function plain<T>(value: T, what: string): T {
  const { text, issues } = plainData(value)
  if (text !== undefined) return JSON.parse(text)
  throw new TypeError(`${what}: ${issues.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')}`)
}

function name(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new TypeError(`${what} must be a non-empty string, not ${JSON.stringify(value) ?? String(value)}.`)
}

// A record with toJSON is refused: its result may lack the id, or not be an object.
function identified(record: JsonObject): JsonObject {
  if (isObject(record) && typeof record.id === 'string' && !('toJSON' in record)) return record
  throw new TypeError('A record must be an object with an id.')
}

/** A value of a script as JSON. */
interface PlainData {
  /** JSON, without the functions; absent if there are issues. */
  readonly text?: string
  /** Pointers of the functions at places where functions are allowed. */
  readonly functions: readonly string[]
  readonly issues: readonly Issue[]
}

/** The deepest nesting of objects and lists. */
const DEEPEST = 100

/** Separates data from functions and invalid values. @param mayBeFunction whether a function is allowed at a path of keys */
export function plainData(
  value: unknown,
  mayBeFunction: (path: readonly string[]) => boolean = () => false,
): PlainData {
  const functions: string[] = []
  const issues: Issue[] = []
  const path: string[] = []
  const around = new Set<unknown>()
  const look = (at: unknown): void => {
    if (typeof at === 'function' && mayBeFunction(path)) {
      functions.push(pointer(...path))
      return
    }
    const problem =
      path.length > DEEPEST || around.has(at) ? 'is nested too deep, or contains itself' : problemOf(at)
    if (problem !== undefined) issues.push({ pointer: pointer(...path), detail: problem })
    else if (typeof at === 'object' && at !== null && !('toJSON' in at)) {
      around.add(at)
      for (const [key, member] of Object.entries(at)) {
        // An undefined field is left out, as by JSON.stringify. In a list it is refused, since it would become null.
        if (member === undefined && !Array.isArray(at)) continue
        path.push(key)
        look(member)
        path.pop()
      }
      around.delete(at)
    }
  }
  look(value)
  return issues.length > 0 ? { functions, issues } : { text: JSON.stringify(value), functions, issues }
}

function problemOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : `is ${value}, which JSON cannot represent`
    case 'function':
      return 'is a function; only "do" of a timeline step and fields of "on" may be functions'
    case 'object':
      return objectProblem(value)
    default:
      return `is of the type ${typeof value}, which JSON cannot represent`
  }
}

function objectProblem(value: object | null): string | undefined {
  if (value === null || Array.isArray(value) || 'toJSON' in value) return undefined
  const parent = Object.getPrototypeOf(value)
  if (parent === null || Object.getPrototypeOf(parent) === null) return undefined
  const name = value.constructor?.name ?? 'object of a class'
  return `is a ${name}; a scenario may have only plain objects, arrays, strings, numbers, booleans and null`
}
