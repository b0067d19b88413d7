import { Script } from 'node:vm'
import { didYouMean } from '../../core/did-you-mean.ts'
import { type Issue, isObject, type JsonObject, pointer } from '../../core/json.ts'
import { restoringMatchTime } from '../../core/regex.ts'
import type { ScenarioCommand, ScenarioSnapshot } from '../../core/scenarios/source.ts'
import type { BatchHandle, BatchList, HookContext, HookFunction, StepFunction } from './define-scenario.ts'
import { FUNCTION } from './schema.ts'

/** Real milliseconds that a function may run. */
export const CALL_MS = 5_000

/** A call that was refused as a whole, so that no line of the function is its cause. */
export class CallRefused extends Error {}

export const SYNCHRONOUS = 'a function must be synchronous, because its changes are applied when it returns'

/**
 * Runs a function of a scenario on a snapshot and returns its commands. Throws its error, or {@link CallRefused} when it
 * takes longer than `limit` real milliseconds or returns a promise.
 */
export function runFunction(
  run: StepFunction | HookFunction,
  snapshot: ScenarioSnapshot,
  limit: number,
): readonly ScenarioCommand[] {
  const commands: ScenarioCommand[] = []
  const call = { isOver: false }
  const queue = (command: ScenarioCommand): void => {
    refuseAfter(call)
    commands.push(plain(command, command.kind))
  }
  try {
    const result = withinTime(() => run(contextOf(snapshot, queue, call)), limit)
    if (typeof (result as PromiseLike<unknown> | undefined)?.then !== 'function') return commands
    // A rejection adds nothing to the refusal.
    Promise.resolve(result).catch(() => {})
    throw new CallRefused(`returned a promise; ${SYNCHRONOUS}`)
  } finally {
    call.isOver = true
  }
}

interface Call {
  isOver: boolean
}

function refuseAfter({ isOver }: Call): void {
  if (isOver) throw new Error('The function has already returned, and its changes are applied.')
}

const CALL = Symbol.for('agent-workspace-emulator.call')
const script = new Script(`globalThis[Symbol.for('${CALL.description}')]()`, { filename: 'scenario-call.js' })

/**
 * Runs a function for at most `limit` real milliseconds: V8 can stop an endless loop only in a script with a time limit.
 * Throws its error, or {@link CallRefused} when it takes longer.
 */
export function withinTime<T>(run: () => T, limit: number): T {
  const { exit } = process
  Object.defineProperty(globalThis, CALL, { value: run, configurable: true })
  process.exit = () => {
    throw new Error('process.exit would end the emulator, and was not run. Return from the function instead.')
  }
  // A debugger may stop in the function for as long as its user likes.
  const isDebugged = process.getBuiltinModule('node:inspector').url() !== undefined
  const timeout = isDebugged ? {} : { timeout: limit }
  try {
    return restoringMatchTime(() => script.runInThisContext({ ...timeout, displayErrors: false }))
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw new CallRefused(
      `did not return within ${limit} ms, and was stopped. Look for an endless loop, and do less at a time.`,
    )
  } finally {
    process.exit = exit
    Reflect.deleteProperty(globalThis, CALL)
  }
}

/** Characters of one line for the log. */
const MAX_LOG = 10_000

type Queue = (command: ScenarioCommand) => void

function contextOf(snapshot: ScenarioSnapshot, queue: Queue, call: Call): HookContext {
  const { now, event, collections } = snapshot
  const batches = batchList(snapshot, queue, call)
  const states = new Map<string, readonly JsonObject[]>()
  const state = (collection: string): readonly JsonObject[] => {
    const known = states.get(collection)
    if (known !== undefined) return known
    if (!collections.includes(collection)) {
      throw new Error(`There is no collection "${collection}".${didYouMean(String(collection), collections)}`)
    }
    refuseAfter(call)
    const records = frozenCopy(snapshot.state(collection))
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
    event: frozenCopy(event) as HookContext['event'],
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

function batchList(snapshot: ScenarioSnapshot, queue: Queue, call: Call): BatchList {
  let all: readonly BatchHandle[] | undefined
  const list = (): readonly BatchHandle[] => {
    if (all === undefined) {
      refuseAfter(call)
      all = Object.freeze(frozenCopy(snapshot.records()).map((batch) => handle(batch, snapshot, queue)))
    }
    return all
  }
  return { list, latest: () => list().at(-1), get: (id) => list().find((batch) => batch.id === id) }
}

/** The batch with its moves, which are not enumerable. */
function handle(batch: JsonObject, { moves }: ScenarioSnapshot, queue: Queue): BatchHandle {
  const id = String(batch.id)
  const handle: object = { ...batch }
  for (const { name: move, takesBody } of moves) {
    const value = (body: JsonObject = {}) => queue({ kind: 'move', id, move, body: takesBody ? body : {} })
    Object.defineProperty(handle, move, { value })
  }
  return Object.freeze(handle) as BatchHandle
}

// A copy, because the records are those of the store.
function frozenCopy<T>(value: T): T {
  return frozen(structuredClone(value))
}

/** Freezes a value and everything in it, and returns it. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}

// Copies the value, so that later changes by the function do not affect the command.
function plain<T>(value: T, what: string): T {
  const { data, issues } = plainData(value)
  if (issues.length === 0) return data as T
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

/** The deepest nesting of objects and lists. */
const DEEPEST = 100

/**
 * A copy of a value as JSON, with {@link FUNCTION} in place of each function; it is whole only without issues.
 * @param mayBeFunction whether a function is allowed at a path of keys
 */
export function plainData(
  value: unknown,
  mayBeFunction: (path: readonly string[]) => boolean = () => false,
): { readonly data: unknown; readonly issues: readonly Issue[] } {
  const issues: Issue[] = []
  const path: string[] = []
  const around = new Set<unknown>()
  const copyOf = (at: unknown): unknown => {
    const isAllowed = typeof at === 'function' && mayBeFunction(path)
    const isTooDeep = path.length > DEEPEST || around.has(at)
    const problem = isTooDeep ? 'is nested too deep, or contains itself' : problemOf(at, isAllowed)
    if (problem !== undefined) issues.push({ pointer: pointer(...path), detail: problem })
    if (problem !== undefined || typeof at !== 'object' || at === null) return isAllowed ? FUNCTION : at
    if ('toJSON' in at) return JSON.parse(JSON.stringify(at) ?? 'null')
    around.add(at)
    const members = Object.entries(Array.isArray(at) ? Array.from(at) : at)
      // An undefined field is left out, as by JSON.stringify. In a list it is refused, since it would become null.
      .filter(([, member]) => member !== undefined || Array.isArray(at))
      .map(([key, member]) => {
        path.push(key)
        const copy = copyOf(member)
        path.pop()
        return [key, copy] as const
      })
    around.delete(at)
    return Array.isArray(at) ? members.map(([, member]) => member) : Object.fromEntries(members)
  }
  return { data: copyOf(value), issues }
}

function problemOf(value: unknown, isAllowed: boolean): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : `is ${value}, which JSON cannot represent`
    case 'function':
      if (Object.prototype.toString.call(value) === '[object AsyncFunction]')
        return `is async; ${SYNCHRONOUS}`
      if (isAllowed) return undefined
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
