import { didYouMean } from '../did-you-mean.ts'
import { Refusal, refuse, refuseInvalid } from '../errors.ts'
import { nothing } from '../fields.ts'
import type { JsonObject } from '../json.ts'
import { idOf, type Scope } from '../operation.ts'
import { HandlerScope } from '../request/exchange.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { FAILED_EVENTS } from '../state/state.ts'
import { Store } from '../state/store.ts'
import { collectionOf, deleteRecord, writeRecord } from '../state/write-record.ts'
import { eventId } from '../time/scheduler.ts'
import { counted } from '../words.ts'
import { parsed, zodIssues } from '../zod-issues.ts'
import { refOfFunction, type ScenarioCall, scenarioCalls } from './row.ts'
import { type ScenarioCommand, type ScenarioSnapshot, ScriptFault } from './source.ts'
import { armOwn, scenarioSource } from './timeline.ts'

/** The maximum number of commands of one call. */
const MAX_COMMANDS = 10_000

/** The maximum length of the error of a failed call that the sandbox stores, in characters. */
const MAX_ERROR_LENGTH = 5_000

/** The kind of function calls among the events of a result. */
const CALL = 'scenario.call'

/** The next call; undefined when none is pending. */
export function nextCall({ store }: Pick<Sandbox, 'store'>): ScenarioCall | undefined {
  const [first] = store.rows(scenarioCalls.name).values()
  return first as ScenarioCall | undefined
}

/** Whether a call is still pending: false after its state was replaced or its scenario was stopped. */
export function isPending({ store }: Pick<Sandbox, 'store'>, call: ScenarioCall): boolean {
  return store.get(scenarioCalls.name, call.id) === call
}

/** The sandbox as the function of a call sees it. It is a copy: later changes of the sandbox are not in it. */
export function snapshotFor(sandbox: Sandbox, call: ScenarioCall): ScenarioSnapshot {
  const { service, seed, name, origin, settings, clock } = sandbox
  const store = Store.from(sandbox.store)
  const scope = new HandlerScope(store.begin(), clock.now, { seed, name, origin, settings }, call.id)
  const { script } = service
  const ref = String(call.event?.ref ?? '')
  const about = script !== undefined && ref.startsWith(`${script.table}/`) ? idOf(ref) : undefined
  const records = (table: string) => [...store.rows(table).values()]
  return {
    now: scope.at,
    ...(call.event === null ? {} : { event: call.event }),
    ...(about === undefined ? {} : { record: about }),
    moves: (script?.moves ?? []).map(({ name, input }) => ({ name, takesBody: input !== undefined })),
    records: () =>
      script === undefined ? [] : records(script.table).map((record) => script.show(record, scope)),
    collections: [...service.collections.keys(), ...store.own(service.collections)],
    state: (collection) => records(collection) as unknown as readonly JsonObject[],
  }
}

/**
 * Runs the commands of a call in order, in one transaction that also removes the call: all or nothing.
 * @returns the texts that are for the log
 * @throws ScriptFault when a command cannot be carried out
 */
export function carryOut(sandbox: Sandbox, call: ScenarioCall, commands: readonly ScenarioCommand[]) {
  if (commands.length > MAX_COMMANDS) {
    throw new ScriptFault(
      `The function returned ${commands.length} commands; the maximum is ${MAX_COMMANDS}.`,
    )
  }
  const scope = sandbox.scope(call.id)
  scope.tx.in(scenarioCalls).delete(call.id)
  const texts: string[] = []
  for (const [index, command] of commands.entries()) {
    if (command.kind === 'log') texts.push(command.text)
    else blaming(`Command ${index + 1} (${command.kind})`, () => runCommand(sandbox, scope, call, command))
  }
  blaming('The commands of the function', () => sandbox.commit(scope))
  const description = `${titleOf(call)} was called and returned ${counted(commands.length, 'command')}.`
  sandbox.listeners.event({ at: sandbox.scope('').at, ...eventOf(call, description) })
  return texts
}

/** Removes a call that failed and adds it to the failed events. Nothing else changes. */
export function failCall(sandbox: Sandbox, call: ScenarioCall, error: string): void {
  const scope = sandbox.scope(call.id)
  scope.tx.in(scenarioCalls).delete(call.id)
  const event = eventOf(call, `${titleOf(call)} failed.`)
  const failed = { ...event, error: error.slice(0, MAX_ERROR_LENGTH) }
  const row = { id: eventId(CALL, event.ref), due_at: call.at, ...failed }
  scope.tx.put(FAILED_EVENTS, row)
  sandbox.commit(scope)
  sandbox.listeners.event({ at: sandbox.scope('').at, ...failed })
}

function eventOf({ scenario, ref, caused_by }: ScenarioCall, description: string) {
  return { kind: CALL, ref: refOfFunction(scenario, ref), description, caused_by }
}

function titleOf({ scenario, ref }: ScenarioCall): string {
  const what = 'timeline' in ref ? `step ${ref.timeline}` : `the hook on ${ref.on}`
  return `The function of ${what} of the scenario ${scenario}`
}

type Command = Exclude<ScenarioCommand, { readonly kind: 'log' }>

function runCommand(sandbox: Sandbox, scope: Scope, { scenario }: ScenarioCall, command: Command): void {
  switch (command.kind) {
    case 'move':
      moveRecord(sandbox, scope, command)
      return
    case 'arm': {
      const checked = sandbox.service.rules.check(command.rule, sandbox.service, scope.settings)
      if ('issues' in checked) refuseInvalid(checked.issues)
      else armOwn(sandbox, scope, scenario, checked.draft)
      return
    }
    case 'clear':
      if (command.id === undefined) sandbox.service.rules.removeOf(scope, scenarioSource(scenario))
      else sandbox.service.rules.remove(scope, command.id)
      return
    case 'put': {
      const collection = collectionOf(sandbox, command.collection)
      writeRecord(sandbox, scope, { collection, id: String(command.record.id), record: command.record })
      return
    }
    case 'delete':
      deleteRecord(sandbox, scope, collectionOf(sandbox, command.collection), command.id)
  }
}

function moveRecord({ service }: Sandbox, scope: Scope, { id, move, body }: Command & { kind: 'move' }) {
  const moves = service.script?.moves ?? []
  const known = moves.map(({ name }) => name)
  const control =
    moves.find(({ name }) => name === move) ??
    refuse('not_found', { detail: `Scenarios have no move "${move}".${didYouMean(move, known)}` })
  const { data, error } = parsed(control.input?.(scope.settings).body ?? nothing, body)
  refuseInvalid(error === undefined ? [] : zodIssues(error, ''))
  control.handle(scope, { params: { id }, body: data, query: undefined })
}

// The author of the script reads the message, so it names the command; a refusal does not.
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
