import { z } from 'zod'
import { inResponse, type Settings, unnamedItem } from '../core/assumptions.ts'
import { refuse } from '../core/errors.ts'
import { anyObject, nonEmptyText } from '../core/fields.ts'
import { valueAt } from '../core/json.ts'
import { type Input, type Method, type Operation, operation, type Request } from '../core/operation.ts'
import { listOrder, ordered } from '../core/request/pagination.ts'
import type { Resource } from '../core/service.ts'
import type { Row } from '../core/state/commit.ts'
import { shown } from '../core/state/state.ts'
import { formatInstant, parseInstant } from '../core/time/instant.ts'
import { noteOrder } from './cursor-page.ts'

/** A record whose fields the specification does not show: an id, the facts that the emulator needs, and the given fields. */
export interface OpaqueRecord<Facts> extends Row {
  readonly [member: string]: unknown
  readonly _emulator: Facts
}

/**
 * The schema of a collection of opaque records: `id` and `_emulator` are checked, every other field is kept unchanged.
 * A loose object of zod would lose a field named `__proto__`.
 */
export function opaqueRecord<Facts>(facts: z.ZodType<Facts>): z.ZodType<OpaqueRecord<Facts>> {
  const known = z.object({ id: nonEmptyText(), _emulator: facts })
  const schema = anyObject().transform((given, context) => {
    const result = known.safeParse(given)
    if (result.success) return { ...given, ...result.data } as OpaqueRecord<Facts>
    // The issues keep their codes, from which the messages for users are built.
    for (const issue of result.error.issues)
      context.issues.push({ ...issue, input: given } as z.core.$ZodRawIssue)
    return z.NEVER
  })
  return schema.register(checkedFields, { fields: known })
}

/** The checked fields of opaque records, by the schema of the record. A JSON Schema cannot be made from a transform. */
export const checkedFields = z.registry<{ fields: unknown }>()

/** The declaration of an endpoint that the specification names without a contract. */
export const unspecified = {
  section: 'Endpoints named without a contract',
  errorFormat: 'standard',
  contract: false,
} as const

/** An operation without a contract: its responses are marked with U043, and `--strict` refuses it before any other check. */
export function uncontracted<I extends Input = Input, Target = undefined>(
  declared: Omit<Operation<I, Target>, 'section' | 'contract' | Usual> & Partial<Pick<Operation, Usual>>,
): Operation<I, Target> {
  const { name, find, handle } = declared
  return operation<I, Target>({
    ...unspecified,
    ...declared,
    find: (finder) => {
      refuseStrict(finder.settings, name)
      return find?.(finder) as Target // without find there is no target
    },
    handle: (request) => {
      request.note('U043')
      return handle(request)
    },
  })
}

type Usual = 'errorFormat' | 'success'

/** The response of an operation that returns a record unchanged. */
export const opaqueResponse = () => z.looseObject({ id: z.string() })

/** The response of an operation that returns a list of unchanged records. */
export const opaqueListResponse = () =>
  z.strictObject({ object: z.literal('list'), data: z.array(opaqueResponse()), has_more: z.literal(false) })

/**
 * Refuses an operation that the specification names without a contract: 501 `emulator_contract_unspecified`.
 * Specification: Endpoints named without a contract.
 */
export function refuseUncontracted(operation: string): never {
  return refuse('emulator_contract_unspecified', {
    detail: `${operation} exists, but the specification shows no contract for it, and the emulator invents none.`,
    mitigation:
      'Give it a response: "workspace-emulator endpoints add METHOD PATH", sandbox.stubs.create(), or "stubs" of a scenario or of the fixtures. "workspace-emulator call GET /operations" lists the operations that have a contract.',
    assumed: [['U043']],
  })
}

/** Refuses as {@link refuseUncontracted} does, but only with `--strict`. */
export function refuseStrict(settings: Settings, operation: string): void {
  if (!settings.strict) return
  refuse('emulator_contract_unspecified', {
    detail: `The specification shows no contract for ${operation}, and under --strict the emulator invents none.`,
    mitigation:
      'Start the emulator without --strict: a stub then responds if there is one, and records are returned as they were given.',
    assumed: [['U043']],
  })
}

/**
 * The body of a list without parameters in the specification: every record, in the order of lists, on one page.
 * Specification: Conventions.
 */
export function opaqueList<T extends Row>(
  records: readonly T[],
  { assume, settings, seed }: Pick<Request<object, unknown>, 'assume' | 'settings' | 'seed'>,
): object {
  const keyed = records.map((record) => {
    // A client may give any created_at. A value that is not an instant counts as 1970, before other records.
    const given = valueAt(record, '/created_at')
    const ms = typeof given === 'string' ? (parseInstant(given)?.ms ?? 0) : 0
    return { id: record.id, created_at: formatInstant(ms), record }
  })
  noteOrder(keyed, assume)
  const data = ordered(keyed, settings.get(listOrder), seed).map(({ record }) => shown(record))
  return { object: 'list', data, has_more: false }
}

/** A new record: the fields that a client gave, unchanged, with a new id and the facts. */
export function opaqueNew<Facts>(given: object, id: string, facts: Facts): OpaqueRecord<Facts> {
  return { ...given, id, _emulator: facts }
}

/** A record with the fields that a client gave; its id and facts stay. */
export function opaqueUpdate<Facts>(record: OpaqueRecord<Facts>, given: object): OpaqueRecord<Facts> {
  return { ...record, ...given, id: record.id, _emulator: record._emulator }
}

// Neither operation has an input: no parameter is known, so none is read, refused or set by default.

const converse = onlyNamed('converse.create', 'POST', '/converse', 'Converse with an agent')
const search = onlyNamed('search.query', 'GET', '/search', 'Search')

function onlyNamed(name: string, method: Method, path: string, summary: string) {
  const handle = () => refuseUncontracted(name)
  return operation({
    ...unspecified,
    name,
    method,
    path,
    summary,
    isUnanswered: true,
    output: () => z.unknown(),
    handle,
  })
}

/** The endpoints of which only the path is known, and the assumptions for all endpoints without a contract. */
export const uncontractedResource: Resource = {
  name: 'uncontracted',
  operations: [converse, search],
  collections: [],
  assumptions: {
    items: [
      unnamedItem(
        'U011',
        'Fields of agents, automations, conversations, messages, files, knowledge, tables, voice and webhooks.',
        'The fields that a fixture or a client gives, unchanged, and an id. Responses with such a record are marked with U043.',
        'Responses with such a record name U043.',
      ),
      inResponse(
        'U043',
        'Contracts of the endpoints that the specification only names.',
        'A stub (of the fixtures, of a scenario or of the control interface) or an endpoint of your own responds if there is one. Otherwise records of the sandbox are returned as they are, event triggers only with the fields that the specification shows, and the response for a generated template has only its claim token. Every other endpoint is a 501. Under --strict all of them are a 501, also with a stub or an endpoint of your own.',
        'Only a contract would settle it: a stub is a guess as well.',
      ),
      unnamedItem(
        'U045',
        'Paths of the endpoints that read messages.',
        'None is invented: every such path is a 404 until it has a stub.',
        'There is no such route until a stub, whose responses name U043.',
      ),
    ],
    settings: [],
  },
}
