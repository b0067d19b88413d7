import * as z from 'zod'
import { problemLine, problemOf } from '../adapters/scenarios/problem.ts'
import {
  CALL_MS,
  CallRefused,
  frozen,
  plainData,
  SYNCHRONOUS,
  withinTime,
} from '../adapters/scenarios/run-function.ts'
import { catalog, type ErrorCode, type ErrorFormat, Refusal, refuse } from '../core/errors.ts'
import { type Issue, isObject } from '../core/json.ts'
import { type AnyOperation, type Input, operation, type Reply, type Request } from '../core/operation.ts'
import { withoutCredentials } from '../core/redaction.ts'
import { listOrder } from '../core/request/pagination.ts'
import { streamOf } from '../core/request/stream.ts'
import { operationOfVariants, type Variant } from '../core/request/variants.ts'
import { endpointOf, responseDraft, servedId } from '../core/scenarios/stub.ts'
import { givenReply } from '../core/scenarios/stub-operation.ts'
import type { Service } from '../core/service.ts'
import type { Row } from '../core/state/commit.ts'
import { shown } from '../core/state/state.ts'
import { parsed, reportIn, zodIssues } from '../core/zod-issues.ts'
import { pageQuery, readPage } from '../service/cursor-page.ts'
import { refuseStrict, unspecified } from '../service/uncontracted.ts'
import { type Definition, operationNameOf } from './check.ts'
import type { EndpointRequest, StreamPart } from './define.ts'
import { CallRecords } from './records.ts'
import type { Checker } from './schema.ts'

type Call = Request<object, unknown>

/** Bytes of a body that a definition accepts as bytes. */
const MAX_BYTES = 100 * 1024 * 1024

/** The operations of definitions, in order: one for each method and path. @param service the built-in one */
export function operationsOf(
  definitions: readonly Definition[],
  service: Service,
  errorFormatOf: (path: string) => ErrorFormat,
): AnyOperation[] {
  const builtIn = new Map([...service.operations.values()].map((each) => [endpointOf(each), each]))
  const groups = new Map<string, Definition[]>()
  for (const definition of definitions) {
    const { method, path } = definition
    const place = endpointOf({ method, path })
    groups.set(place, [...(groups.get(place) ?? []), definition])
  }
  return [...groups].flatMap(([place, all]) => {
    const below = builtIn.get(place)
    // An example never replaces records that the emulator has.
    const usable = all.filter(
      ({ example }) => example !== true || below === undefined || below.isUnanswered === true,
    )
    const ranked = usable.sort((a, b) => rankOf(a) - rankOf(b))
    const variants = ranked.map((each): Variant => {
      const { method, path, match } = each
      const name = operationNameOf(ranked.find((one) => one.name !== undefined) ?? each, below)
      return {
        match,
        operation: made(each, {
          name,
          service,
          errorFormat: below?.errorFormat ?? errorFormatOf(path),
          method,
        }),
      }
    })
    const [first, ...more] = variants
    return first === undefined ? [] : [operationOfVariants([first, ...more], below)]
  })
}

// Who responds: a function, then data, then an example.
function rankOf({ handle, example }: Definition): number {
  return handle !== undefined ? 0 : example === true ? 2 : 1
}

interface Facts extends Pick<AnyOperation, 'name' | 'errorFormat' | 'method'> {
  readonly service: Service
}

function made(definition: Definition, { service, ...facts }: Facts): AnyOperation {
  const { path, summary, query, body, output, idempotent, auth, accept, place, method } = definition
  const { status = 200 } = definition.responses?.[0] ?? {}
  const input: Input = {
    ...(query && { query: schemaOf(query, place) }),
    ...(body !== undefined || method !== 'GET' ? { body: body ? schemaOf(body, place) : z.unknown() } : {}),
  }
  return {
    ...operation<Input, undefined>({
      ...unspecified,
      ...facts,
      path,
      summary: summary ?? `${method} ${path} of the user`,
      success: status,
      input: () => input,
      output: () => (output === undefined ? z.unknown() : z.unknown().meta({ ...output.jsonSchema })),
      ...(accept === 'bytes' && { accept, bodyLimit: MAX_BYTES }),
      ...(idempotent === true && { idempotent }),
      find: ({ settings }) => refuseStrict(settings, facts.name) as undefined,
      handle: (request) => {
        request.note('U043')
        const reply = replyOf(definition, request, service)
        const remark = output && remarkOf(output, reply, place)
        return remark === undefined ? reply : { ...reply, remark }
      },
    }),
    place,
    ...(auth === false && { auth }),
  }
}

/** A schema of a user as one of zod, with its JSON Schema for the OpenAPI document. */
function schemaOf({ check, jsonSchema }: Checker, place: string): z.ZodType {
  return z
    .unknown()
    .meta({ ...jsonSchema })
    .transform((value, context) => {
      const result = checked(check, value, place)
      if (!('issues' in result)) return result.value
      reportIn(context, result.issues)
      return z.NEVER
    })
}

// A schema that fails itself is no fault of the client.
function checked(check: Checker['check'], value: unknown, place: string): ReturnType<Checker['check']> {
  try {
    return check(value)
  } catch (error) {
    return refuse('internal_error', {
      detail: `The schema of the endpoint at ${place} failed: ${(error as Error).message}`,
      mitigation: `Correct the schema; the file is loaded again when it is saved.`,
    })
  }
}

function remarkOf({ check }: Checker, { body, status = 200 }: Reply, place: string): string | undefined {
  if (status >= 300) return undefined
  const result = checked(check, body, place)
  if (!('issues' in result)) return undefined
  const [{ pointer = '', detail = '' } = {}] = result.issues as readonly Issue[]
  return `the response does not fit its output: ${pointer} ${detail}`
}

function replyOf(definition: Definition, request: Call, service: Service): Reply {
  const { handle, method, path, match, cycle, place, responses } = definition
  if (definition.unanswered !== undefined)
    return refuse('emulator_contract_unspecified', { detail: definition.unanswered, assumed: [['U043']] })
  if (handle === undefined)
    return givenReply(
      { responses, cycle },
      servedId({ endpoint: endpointOf({ method, path, match }) }),
      request,
    )
  const records = new CallRecords(request, service)
  try {
    const result: unknown = withinTime(() => handle.call(undefined, frozenRequest(request, records)), CALL_MS)
    records.close()
    return replyFrom(result, definition)
  } catch (thrown) {
    records.end()
    if (thrown instanceof Refusal) throw thrown
    const [file = place] = place.split(/:\d+$/)
    const problem =
      thrown instanceof CallRefused ? { file: place, message: thrown.message } : problemOf(thrown, place)
    return refuse('internal_error', {
      detail: `The function of ${request.call.method} ${path} failed: ${problemLine(problem)}`,
      mitigation: `Correct ${file}; it is loaded again when it is saved.`,
    })
  }
}

function frozenRequest(request: Call, records: CallRecords): EndpointRequest {
  const { call, params, query, body, caller, at, newId, seed, cause } = request
  const { user_id, teamspace_id, organization_id, kind } = caller
  const chance = request.chance('endpoint', seed, cause)
  const stream = (form: string) => (parts: readonly StreamPart[], options?: object) =>
    ({ stream: { [form]: parts, ...options } }) as ReturnType<EndpointRequest['stream']['lines']>
  return Object.freeze({
    method: call.method,
    path: call.path,
    params: frozen({ ...params }),
    query: frozen(query ?? { ...call.query }),
    headers: frozen(withoutCredentials(call.headers)),
    body: frozen(body),
    caller: frozen({ user_id, teamspace_id, organization_id, kind }),
    at,
    newId: () => newId(),
    chance: () => chance.next(),
    records: records.of as EndpointRequest['records'],
    list: (rows: readonly object[]) => listOf(rows, request),
    refuse: refuseAsAsked,
    stream: Object.freeze({ events: stream('events'), lines: stream('lines'), chunks: stream('chunks') }),
  })
}

const listQuery = z.object(pageQuery())

/** A page of rows in their own order. */
function listOf(rows: readonly object[], { call, assume, settings }: Call): object {
  const { limit, after, before } = call.query
  const { data: query, error } = parsed(listQuery, { limit, after, before })
  if (error !== undefined)
    return refuse('validation_failed', {
      detail: 'The query of the list is not valid.',
      issues: zodIssues(error, '/query'),
    })
  const locate = (cursor: string) => {
    const start = rows.findIndex((row) => (row as Row).id === cursor)
    return start === -1 ? undefined : { start, end: start + 1 }
  }
  // The order is that of the rows, whatever the setting says.
  const ownOrder: typeof assume = (setting) =>
    (setting as unknown) === listOrder ? settings.get(setting) : assume(setting)
  const page = readPage(() => rows, query, locate, { assume: ownOrder, settings })
  return { object: 'list', data: page.items, has_more: page.hasMore }
}

function refuseAsAsked(status: number, code: string, detail: string): never {
  if (!Number.isInteger(status) || status < 400 || status > 599)
    throw new Error(`refuse needs a status from 400 to 599, not ${status}`)
  const known = Object.hasOwn(catalog, code) ? (code as ErrorCode) : undefined
  const base = known ?? (status < 500 ? 'bad_request' : 'internal_error')
  const word = String(code)
  return refuse(base, { detail: String(detail), status, ...(known === undefined && { word }) })
}

const RESULT =
  'must return an object with status, headers, and body or stream, or the result of a function of "stream"'

/** The reply of what a function has returned. Throws an error about anything else. */
function replyFrom(result: unknown, { idempotent }: Definition): Reply {
  if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') {
    // A rejection adds nothing to the refusal.
    Promise.resolve(result).catch(() => {})
    throw new Error(`it returned a promise; ${SYNCHRONOUS}`)
  }
  if (!isObject(result)) throw new Error(`it ${RESULT}`)
  const { body, headers: given, ...rest } = result as { readonly body?: unknown; readonly headers?: unknown }
  const { type, headers } = withoutType(given)
  const raw: unknown = body instanceof Uint8Array || typeof body === 'string' ? body : undefined
  const { data, issues } =
    raw === undefined && body !== undefined ? plainData(body) : { data: undefined, issues: [] }
  const [wrong] = issues
  if (wrong !== undefined)
    throw new Error(`the body that it returned is not JSON: ${wrong.pointer} ${wrong.detail}`)
  const checked = parsed(responseDraft, headers === undefined ? rest : { ...rest, headers })
  if (checked.error !== undefined) {
    const [issue] = zodIssues(checked.error, '')
    throw new Error(`it ${RESULT}: ${issue?.pointer} ${issue?.detail}`)
  }
  const { status, stream } = checked.data
  if (idempotent === true && (raw !== undefined || stream !== undefined))
    throw new Error(
      'an idempotent endpoint must return a JSON body: texts, bytes and streams are not replayed',
    )
  return {
    ...(status !== undefined && { status }),
    headers: Object.entries(checked.data.headers ?? {}),
    ...(stream && { stream: streamOf(stream) }),
    ...(data !== undefined && { body: withoutFacts(data) as object }),
    ...(typeof raw === 'string' && { body: {}, text: raw }),
    ...(raw instanceof Uint8Array && { bytes: Buffer.from(raw) }),
    ...(type !== undefined
      ? { type }
      : raw === undefined
        ? {}
        : { type: RAW_TYPE[typeof raw === 'string' ? 'text' : 'bytes'] }),
  }
}

const RAW_TYPE = { text: 'text/plain; charset=utf-8', bytes: 'application/octet-stream' }

function withoutType(headers: unknown): { readonly type?: string; readonly headers?: unknown } {
  if (!isObject(headers)) return { headers }
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')
  if (found === undefined) return { headers }
  const { [found[0]]: type, ...rest } = headers
  if (typeof type !== 'string' || !/^[\t\x20-\x7e]{1,1000}$/.test(type))
    throw new Error('the content-type that it returned is not valid')
  return { type, headers: rest }
}

/** A body without the facts of the emulator that records have, also in the rows of a list. */
function withoutFacts(body: unknown): unknown {
  if (!isObject(body)) return body
  const whole = shown(body)
  return Array.isArray(whole.data)
    ? { ...whole, data: whole.data.map((row) => (isObject(row) ? shown(row) : row)) }
    : whole
}
