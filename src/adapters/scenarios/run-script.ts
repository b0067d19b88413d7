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
  'has no default export. Write export default defineScenario({...}); a helper file belongs into a subfolder, or gets a name that starts with _'

/** The scripts of one folder, evaluated once each with whatever they import. TypeScript is translated, not checked. */
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
      // Nothing of the emulator is needed but this function, wherever the package may be installed.
      virtualModules: { 'agent-workspace-emulator': { defineScenario } },
    })
    this.#ours = new Set(Object.keys(this.#jiti.cache))
  }

  async load(file: string): Promise<LoadedScript> {
    const source = readFileSync(file, 'utf8')
    if (source.trim() === '') throw new Error('is empty')
    // Always translated: Node itself would look for our package among the installed ones.
    if (!this.#jiti.cache[file]?.loaded) {
      await this.#jiti.evalModule(source, { filename: file, async: true, forceTranspile: true })
    }
    const scenario = exportOf(this.#jiti.cache[file]?.exports)
    this.#scenarios.set(file, scenario)
    return plainData(scenario, mayBeFunction)
  }

  /** A function of a script that has been loaded. Anyone who asks knows that it is there. */
  find(file: string, ref: FunctionRef): unknown {
    const { timeline, on } = this.#scenarios.get(file) as {
      readonly timeline?: readonly { readonly do?: unknown }[]
      readonly on?: Readonly<Record<string, unknown>>
    }
    return 'on' in ref ? on?.[ref.on] : timeline?.[ref.timeline]?.do
  }

  /** The files that have been imported from outside the folder, packages aside. */
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
  // A CommonJS module that exports nothing is an empty object, and so may a scenario be that is exported as such.
  if (exported === undefined || (isCommonJs && isObject(exported) && Object.keys(exported).length === 0)) {
    throw new Error(NO_EXPORT)
  }
  if (isObject(exported)) return exported
  throw new Error('exports no scenario: it must be an object')
}

/** Runs a function of a scenario on a snapshot. What it asks for comes back when it has returned; what it throws is thrown. */
export async function runFunction(
  run: StepFunction | HookFunction,
  snapshot: ScenarioSnapshot,
): Promise<readonly ScenarioCommand[]> {
  const commands: ScenarioCommand[] = []
  let returned = false
  const queue = (command: ScenarioCommand): void => {
    if (returned) throw new Error('The function has returned; await what it still has to wait for.')
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
    // A step has none; only hooks have this in their type.
    event: event as HookContext['event'],
    get batch(): BatchHandle {
      const found = snapshot.record === undefined ? undefined : batches.get(snapshot.record)
      if (found !== undefined) return found
      const why =
        snapshot.record === undefined ? 'is about no batch' : `is about ${snapshot.record}, which is gone`
      throw new Error(
        `${event === undefined ? 'A step of the timeline' : event.name} ${why}; leave "batch" out.`,
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

/** The batch with its moves, which do not show among its members. */
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

// A copy as it is now: what the function changes of it afterwards is not what it has asked for.
function plain<T>(value: T, what: string): T {
  const { text, issues } = plainData(value)
  if (text !== undefined) return JSON.parse(text)
  throw new TypeError(`${what}: ${issues.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')}`)
}

function name(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new TypeError(
    `${what} must be a text that is not empty, not ${JSON.stringify(value) ?? String(value)}.`,
  )
}

// What toJSON makes of it need not have an id any more, nor be an object.
function identified(record: JsonObject): JsonObject {
  if (isObject(record) && typeof record.id === 'string' && !('toJSON' in record)) return record
  throw new TypeError('A record must be an object with an id.')
}

/** A value of a script, as far as JSON can carry it. */
interface PlainData {
  /** JSON, without the functions; absent where there are issues. */
  readonly text?: string
  /** Pointers of the functions that stand where functions may. */
  readonly functions: readonly string[]
  readonly issues: readonly Issue[]
}

/** The deepest nesting of objects and lists. */
const DEEPEST = 100

/** Tells data from functions and from what is neither. @param mayBeFunction whether a function may stand at a path of keys */
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
        // A member that is undefined is no member, as for JSON.stringify; in a list it would become null.
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
      return Number.isFinite(value) ? undefined : `is ${value}, which JSON cannot carry`
    case 'function':
      return 'is a function; only "do" of a timeline step and members of "on" may be one'
    case 'object':
      return objectProblem(value)
    default:
      return `is of the type ${typeof value}, which JSON cannot carry`
  }
}

function objectProblem(value: object | null): string | undefined {
  if (value === null || Array.isArray(value) || 'toJSON' in value) return undefined
  const parent = Object.getPrototypeOf(value)
  if (parent === null || Object.getPrototypeOf(parent) === null) return undefined
  const name = value.constructor?.name ?? 'object of a class'
  return `is a ${name}; scenarios are made of plain objects, lists, texts and numbers`
}
