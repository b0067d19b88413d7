import { z } from 'zod'
import type { Settings } from '../assumptions.ts'
import { refuse } from '../errors.ts'
import { intBetween, nonEmptyText } from '../fields.ts'
import { isObject, isPointer, keysOf, ownValue, valueAt } from '../json.ts'
import type { Exchange } from '../request/exchange.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { changeRecords, checkInsertRows, insertRowsSchema } from '../state/rows.ts'
import { either, form, membersOf, nameAmong, someOf, strictObject, together } from '../strict-input.ts'
import { runEvents } from '../time/run-events.ts'
import type { FiredAction } from './decision.ts'
import type { KnownNames, ParametersOf } from './primitive.ts'
import type { Fault, StatePrimitive } from './state-primitive.ts'

/**
 * Changes records of the sandbox. Further fields are moves that the resources of the service declare. Without `id` it changes
 * the record of the request: the last parameter of its path, or the record that it has created.
 */
export type StateFault = ParametersOf<typeof ownFields> & { readonly [move: string]: unknown }

function ownFields(service: KnownNames) {
  const collection = nameAmong([...service.collections.keys()], 'collection')
  return strictObject({
    /** Default `before-handler`. The record that a request creates exists only at `after-handler`. */
    at: z.enum(['before-handler', 'after-handler']).optional(),
    /** The record to change. Default: that of the request. */
    id: recordRef().optional(),
    delete: strictObject({ collection, id: recordRef().optional() }).optional(),
    /** Inserts the given records, or a number of generated ones. */
    insert_rows: insertRowsSchema(service).optional(),
    /** Removes the results of the record. */
    cleanup: z.boolean().optional(),
    /** Number of requests, as the rule counts them, that do not find the record at first. */
    visible_after_reads: intBetween(1, 1_000_000).optional(),
  })
}

/** Names a record by its id, or by the place of the id in the request. */
type RecordRef =
  | string
  | { readonly param: string }
  | { readonly query: string }
  /** JSON Pointer into the body of the request. */
  | { readonly body: string }

function recordRef(): z.ZodType<RecordRef> {
  const place = someOf({
    param: nonEmptyText().optional(),
    query: nonEmptyText().optional(),
    body: z.string().refine(isPointer, { error: 'is not a JSON Pointer such as /parent/id' }).optional(),
  }).refine((value) => membersOf(value).length === 1, {
    error: 'must have exactly one of param, query and body',
  })
  return either<RecordRef>(
    'must be an id, or its place in the request: {"param": name}, {"query": name} or {"body": pointer}',
    form.text(nonEmptyText()),
    form.object(place),
  )
}

/** The parameters, with the moves that the resources of a service declare. */
function stateSchema(service: KnownNames, settings: Settings): z.ZodType<StateFault> {
  const moves = [...service.recordFaults.values()].map(
    ({ name, schema }) => [name, schema(settings).optional()] as const,
  )
  const shape = { ...ownFields(service).shape, ...Object.fromEntries(moves) }
  const names = Object.keys(shape).filter((name) => name !== 'at' && name !== 'id')
  const fault = strictObject(shape).refine((value) => membersOf(value).some((name) => names.includes(name)), {
    error: `must have at least one of ${names.join(', ')}`,
  })
  const checked = together(fault, (value) =>
    checkInsertRows(value, service, settings).map(({ pointer, detail }) => ({
      path: keysOf(pointer),
      message: detail,
    })),
  )
  return checked as z.ZodType<unknown> as z.ZodType<StateFault>
}

export const state: StatePrimitive<'state', typeof stateSchema> = {
  name: 'state',
  kind: 'state',
  description: 'moves of records, rows that are added or removed, reads that return an old state',
  schema: stateSchema,
  example: { match: { method: 'GET' }, parameters: { visible_after_reads: 2 } },
  step: ({ at }) => (at === 'after-handler' ? 'faultsAfter' : 'faultsBefore'),
  effect: {
    beforeHandler: (fault) => change(fault, 'before-handler'),
    afterHandler: (fault) => change(fault, 'after-handler'),
  },
}

type StateStage = 'before-handler' | 'after-handler'

// Applies the actions in order in a separate transaction; events that fall due because of it run at once. A move that does not
// fit the record or its status changes nothing.
function change({ sandbox, exchange, decision, given }: Fault<StateFault>, at: StateStage): void {
  const wanted = given.filter((each) => isWanted(each, exchange, at))
  if (wanted.length === 0) return
  const scope = sandbox.scope(exchange.id)
  const idOf = (ref: RecordRef | undefined) =>
    ref === undefined ? idMeant(exchange, at) : idNamed(ref, exchange)
  for (const { parameters } of wanted)
    changeRecords(scope, sandbox.service, exchange, parameters, idOf as (ref: unknown) => string | undefined)
  const commit = sandbox.commit(scope)
  if (commit !== undefined) {
    decision.moved.push({ step: at === 'before-handler' ? 'faultsBefore' : 'faultsAfter', commit })
    const { events, failed } = runEvents(sandbox, sandbox.clock.now)
    exchange.caughtUp += events.length + failed.length
  }
  for (const { parameters, n } of wanted) {
    if (n <= (parameters.visible_after_reads ?? 0)) refuseUnseen(sandbox, exchange, idOf(parameters.id))
  }
}

// A reserved value in a request is about the record that the request creates, and a replay creates none.
function isWanted(
  { rule, parameters }: FiredAction<StateFault>,
  exchange: Exchange,
  at: StateStage,
): boolean {
  if (rule.source === 'magic' && exchange.idempotency === 'replay') return false
  return (parameters.at ?? 'before-handler') === at
}

/** The id that a reference names in a request; undefined where the request does not have it. */
function idNamed(ref: RecordRef, { params, call, rawBody }: Exchange): string | undefined {
  if (typeof ref === 'string') return ref
  if ('param' in ref) return ownValue(params, ref.param)
  if ('query' in ref) return [ownValue(call.query, ref.query)].flat()[0]
  const value = rawBody === undefined ? undefined : valueAt(rawBody, ref.body)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** Id of the record of a request: after the handler the `id` of its response, else the last parameter of its path. */
function idMeant(exchange: Exchange, at: StateStage): string | undefined {
  const body = at === 'after-handler' ? exchange.reply?.body : undefined
  const made = isObject(body) ? body.id : undefined
  return typeof made === 'string' ? made : Object.values(exchange.params).at(-1)
}

// Calls the operation in a transaction without the record, never committed: the error is the same as for an unknown id.
function refuseUnseen(sandbox: Sandbox, exchange: Exchange, id: string | undefined): never {
  const { params, caller, now, assume, note, settings, call } = exchange
  const { tx } = sandbox.scope(exchange.id)
  for (const table of sandbox.service.collections.keys()) if (id !== undefined) tx.delete(table, id)
  call.operation.find?.({ params, caller, now, assume, note, settings, tx })
  return refuse('not_found', { detail: `There is no object with the id "${id ?? ''}".` })
}
