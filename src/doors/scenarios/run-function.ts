import { didYouMean } from '../../kernel/assumptions.ts'
import { isObject, type JsonObject } from '../../kernel/json.ts'
import type { ScenarioCommand, ScenarioSnapshot } from '../../kernel/scenario/commands.ts'
import type { BatchHandle, BatchList, HookContext, HookFunction, StepFunction } from './define-scenario.ts'
import { plainData } from './plain-data.ts'

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
const LONGEST_LOG = 10_000

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
    world: {
      log: (text) => queue({ kind: 'log', text: String(text).slice(0, LONGEST_LOG) }),
      state,
      put: (collection, record) =>
        queue({ kind: 'put', collection: name(collection, 'The collection'), record: identified(record) }),
      delete: (collection, id) =>
        queue({ kind: 'delete', collection: name(collection, 'The collection'), id: name(id, 'The id') }),
    },
    // A step has none; only hooks have this in their type.
    event: event as HookContext['event'],
    get batch(): BatchHandle {
      const found = snapshot.batch === undefined ? undefined : batches.get(snapshot.batch)
      if (found !== undefined) return found
      const why =
        snapshot.batch === undefined ? 'is about no batch' : `is about ${snapshot.batch}, which is gone`
      throw new Error(
        `${event === undefined ? 'A step of the timeline' : event.name} ${why}; leave "batch" out.`,
      )
    },
  }
}

function batchList(snapshot: ScenarioSnapshot, queue: Queue): BatchList {
  let all: readonly BatchHandle[] | undefined
  const list = (): readonly BatchHandle[] => {
    all ??= snapshot.batches().map((batch) => handle(batch, queue))
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
      queue({ kind: 'batch', id, move, body: takesBody ? (body as JsonObject) : {} })
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
