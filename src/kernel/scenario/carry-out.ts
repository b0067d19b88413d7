import { didYouMean } from '../assumptions.ts'
import { Refusal, refuse, refuseInvalid } from '../errors.ts'
import { checkDraft } from '../faults/arm.ts'
import type { Issue, JsonObject } from '../json.ts'
import type { Control, Scope } from '../operation.ts'
import { HandlerScope } from '../request/exchange.ts'
import type { Row } from '../state/commit.ts'
import { PARKED } from '../state/state.ts'
import { Store } from '../state/store.ts'
import { collectionOf, deleteRecord, writeRecord } from '../state/write-record.ts'
import { counted } from '../words.ts'
import type { World } from '../worlds/world.ts'
import { zodIssues } from '../zod-issues.ts'
import type { ScenarioCommand, ScenarioSnapshot } from './commands.ts'
import { refOfFunction, type ScenarioCall, scenarioCalls } from './row.ts'
import { armOwn, clearOwn, clearRule } from './rules.ts'
import { ScriptFault } from './script-fault.ts'

/** Commands that one call may ask for. */
const MOST_COMMANDS = 10_000

/** Characters of what a failed call says that the world keeps. */
const LONGEST_ERROR = 5_000

/** The kind under which receipts tell of functions that were called. */
const CALL = 'scenario.call'

/** The call that comes next; undefined while none is left. */
export function nextCall({ store }: Pick<World, 'store'>): ScenarioCall | undefined {
  const [first] = store.rows(scenarioCalls.name).values()
  return first as ScenarioCall | undefined
}

/** Whether a call is still to be made, or answered: its world may have been replaced, its scenario stopped. */
export function isLeft({ store }: Pick<World, 'store'>, call: ScenarioCall): boolean {
  return store.get(scenarioCalls.name, call.id) === call
}

/** The world as the function of a call sees it, as it is now whatever becomes of the world. */
export function snapshotFor(world: World, call: ScenarioCall): ScenarioSnapshot {
  const { service, seed, name, settings, clock } = world
  const store = Store.from(world.store)
  const scope = new HandlerScope(store.begin(), clock.now, { seed, name, settings }, call.id)
  const records = (table: string) => [...store.rows(table).values()]
  return {
    now: scope.at,
    ...(call.event === null ? {} : { event: call.event }),
    ...(call.batch === null ? {} : { batch: call.batch }),
    batches: () => {
      const script = service.scripts.get('batch')
      return script === undefined ? [] : records(script.table).map((record) => script.show(record, scope))
    },
    collections: [...service.collections.keys()],
    state: (collection) => records(collection) as unknown as readonly JsonObject[],
  }
}

/**
 * Does what a call has asked for, in order and in one transaction, which also takes the call away: all or nothing.
 * @returns the texts that are for the log
 * @throws ScriptFault when a command cannot be carried out
 */
export function carryOut(world: World, call: ScenarioCall, commands: readonly ScenarioCommand[]): string[] {
  if (commands.length > MOST_COMMANDS) {
    throw new ScriptFault(
      `The function asked for ${commands.length} things, and may ask for ${MOST_COMMANDS}.`,
    )
  }
  const scope = world.scope(call.id)
  scope.tx.in(scenarioCalls).delete(call.id)
  const texts: string[] = []
  for (const [index, command] of commands.entries()) {
    if (command.kind === 'log') texts.push(command.text)
    else blaming(`Command ${index + 1} (${command.kind})`, () => obey(world, scope, call, command))
  }
  blaming('What the function asked for', () => world.commit(scope))
  tell(world, call, `${titleOf(call)} was called and asked for ${counted(commands.length, 'thing')}.`)
  return texts
}

/** Takes a call away that has failed, and parks it. Nothing else has changed. */
export function giveUp(world: World, call: ScenarioCall, error: string): void {
  const { scope, ref } = { scope: world.scope(call.id), ref: refOfFunction(call.scenario, call.ref) }
  const says = `${titleOf(call)} failed.`
  scope.tx.in(scenarioCalls).delete(call.id)
  const parked = {
    id: `${CALL}:${ref}`,
    due_at: call.at,
    kind: CALL,
    ref,
    says,
    caused_by: call.caused_by,
    error: error.slice(0, LONGEST_ERROR),
  }
  scope.tx.put(PARKED, parked as Row)
  world.commit(scope)
  tell(world, call, says, parked.error)
}

function tell(world: World, { scenario, ref, caused_by }: ScenarioCall, says: string, error?: string): void {
  const { at } = world.scope('')
  const told = { at, kind: CALL, ref: refOfFunction(scenario, ref), says, caused_by }
  world.happened({ ...told, ...(error !== undefined && { error }) })
}

function titleOf({ scenario, ref }: ScenarioCall): string {
  const what = 'timeline' in ref ? `step ${ref.timeline}` : `the hook on ${ref.on}`
  return `The function of ${what} of the scenario ${scenario}`
}

type Command = Exclude<ScenarioCommand, { readonly kind: 'log' }>

function obey(world: World, scope: Scope, { scenario }: ScenarioCall, command: Command): void {
  switch (command.kind) {
    case 'batch':
      moveBatch(world, scope, command)
      return
    case 'arm': {
      const checked = checkDraft(command.rule, world.service, scope.settings)
      if ('issues' in checked) refuseInvalid(checked.issues)
      else armOwn(world, scope, scenario, checked.draft)
      return
    }
    case 'clear':
      if (command.id === undefined) clearOwn(scope, scenario)
      else clearRule(scope, command.id)
      return
    case 'put': {
      const collection = collectionOf(world, command.collection)
      writeRecord(world, scope, { collection, id: String(command.record.id), record: command.record })
      return
    }
    case 'delete':
      deleteRecord(world, scope, collectionOf(world, command.collection), command.id)
  }
}

function moveBatch({ service }: World, scope: Scope, { id, move, body }: Command & { kind: 'batch' }): void {
  const moves = service.scripts.get('batch')?.moves ?? []
  const control = moves.find(({ name }) => name === move) ?? refuseMove(move, moves)
  const issues: Issue[] = []
  const parsed = control.body?.(scope.settings).safeParse(body)
  if (parsed?.success === false) issues.push(...zodIssues(parsed.error, ''))
  refuseInvalid(issues)
  control.handle(scope, { params: { id }, body: parsed?.data })
}

function refuseMove(move: string, moves: readonly Control[]): never {
  const known = moves.map(({ name }) => name)
  return refuse('not_found', { detail: `A batch cannot be made to ${move}.${didYouMean(move, known)}` })
}

// Whatever refuses a command says nothing of the script, whose author reads it.
function blaming<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'storage_unavailable') throw error
    const [issue] = error.options.issues ?? []
    const detail = issue === undefined ? error.message : `${issue.pointer} ${issue.detail}`
    throw new ScriptFault([`${what}: ${detail}`, error.options.mitigation].filter(Boolean).join(' '))
  }
}
