import { z } from 'zod'
import { problemLine, problemOf } from '../adapters/scenarios/problem.ts'
import {
  CALL_MS,
  CallRefused,
  frozen,
  plainData,
  SYNCHRONOUS,
  withinTime,
} from '../adapters/scenarios/run-function.ts'
import { isErrorCode } from '../core/error-kinds.ts'
import { Refusal, refuse } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import type { AnyOperation, Input, Reply, Request } from '../core/operation.ts'
import { withoutCredentials } from '../core/redaction.ts'
import { headerValue } from '../core/request/headers.ts'
import { streamOf } from '../core/request/stream.ts'
import { operationOfVariants } from '../core/request/variants.ts'
import { endpointOf, responseDraft, servedId } from '../core/scenarios/stub.ts'
import { givenReply } from '../core/scenarios/stub-operation.ts'
import type { Service } from '../core/service.ts'
import type { Row } from '../core/state/commit.ts'
import { shown } from '../core/state/state.ts'
import { parsed, reportIn, zodIssues } from '../core/zod-issues.ts'
import { pageQuery, readPage } from '../service/cursor-page.ts'
import { uncontracted } from '../service/uncontracted.ts'
import type { EndpointRequest, StreamPart } from './define.ts'
import { type Definition, definedAt } from './definition.ts'
import { callRecords } from './records.ts'
import type { Checker } from './schema.ts'

type Call = Request<object, unknown>

/** Bytes of a body that a definition accepts as bytes. */
const MAX_BYTES = 100 * 1024 * 1024

/** The operations of definitions: one for each method and path. @param service the built-in one */
export function operationsOf(definitions: readonly Definition[], service: Service): AnyOperation[] {
  const builtIn = [...service.operations.values()]
  const groups = new Map<string, Definition[]>()
  for (const definition of definitions.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const { method, path } = definition
    const place = endpointOf({ method, path })
    groups.set(place, [...(groups.get(place) ?? []), definition])
  }
  return [...groups].flatMap(([place, group]) => {
    const below = builtIn.find((each) => endpointOf(each) === place)
    // An example never replaces records that the emulator has.
    const usable = group.filter(({ example }) => !example || below === undefined || below.isUnanswered)
    const [first] = usable
    if (first === undefined) return []
    const { name, path } = first
    const segment = path.split('/')[1]
    const { errorFormat = 'standard' } =
      below ?? builtIn.find((each) => each.path.split('/')[1] === segment) ?? {}
    const variants = usable.map((each) => ({
      match: each.match,
      operation: made({ ...each, name, path, errorFormat }, service),
    }))
    return [operationOfVariants(variants, below)]
  })
}

// Who responds: a function, then data, then an example.
function rankOf({ handle, example }: Definition): number {
  return handle !== undefined ? 0 : example === true ? 2 : 1
}

function made(definition: Definition & Pick<AnyOperation, 'errorFormat'>, service: Service): AnyOperation {
  const { name, errorFormat, method, path, query, body, output, responses } = definition
  const place = definedAt(definition)
  const input: Input = {
    ...(query && { query: schemaOf(query, place) }),
    ...(method !== 'GET' && { body: body ? schemaOf(body, place) : z.unknown() }),
  }
  return uncontracted<Input>({
    ...{ name, errorFormat, method, path, place },
    summary: definition.summary ?? `${method} ${path} of the user`,
    success: responses?.[0]?.status ?? 200,
    input: () => input,
    output: () => z.unknown().meta({ ...output?.jsonSchema }),
    ...(definition.accept === 'bytes' && { accept: 'bytes', bodyLimit: MAX_BYTES }),
    ...(definition.idempotent === true && { idempotent: true }),
    ...(definition.auth === false && { auth: false }),
    handle: (request) => {
      const reply = replyOf(definition, request, service)
      const remark = output && remarkOf(output, reply, place)
      return remark === undefined ? reply : { ...reply, remark }
    },
  })
}

/** A schema of the user as one of zod, with its JSON Schema for the OpenAPI document. */
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
    return refuseFailed(`schema of the endpoint at ${place}`, (error as Error).message, place)
  }
}

function refuseFailed(what: string, why: string, place: string): never {
  return refuse('internal_error', {
    detail: `The ${what} failed: ${why}`,
    mitigation: `Correct ${place.replace(/:\d+$/, '')}; it is loaded again when it is saved.`,
  })
}

function remarkOf({ check }: Checker, { body, status = 200 }: Reply, place: string): string | undefined {
  const result = status >= 300 ? undefined : checked(check, body, place)
  const [issue] = result !== undefined && 'issues' in result ? result.issues : []
  return issue && `the response does not fit its output: ${issue.pointer} ${issue.detail}`
}

function replyOf(definition: Definition, request: Call, service: Service): Reply {
  const { handle, method, path, match, unanswered, responses, cycle } = definition
  if (unanswered !== undefined)
    return refuse('emulator_contract_unspecified', { detail: unanswered, assumed: [['U043']] })
  if (handle === undefined)
    return givenReply(
      { responses, cycle },
      servedId({ endpoint: endpointOf({ method, path, match }) }),
      request,
    )
  const records = callRecords(request, service)
  try {
    const result: unknown = withinTime(() => handle.call(undefined, frozenRequest(request, records)), CALL_MS)
    records.close()
    return replyFrom(result, definition)
  } catch (thrown) {
    records.end()
    if (thrown instanceof Refusal) throw thrown
    const place = definedAt(definition)
    const problem =
      thrown instanceof CallRefused ? { file: place, message: thrown.message } : problemOf(thrown, place)
    return refuseFailed(`function of ${request.call.method} ${path}`, problemLine(problem), place)
  }
}

function frozenRequest(request: Call, records: ReturnType<typeof callRecords>): EndpointRequest {
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

/** A page of rows in their own order, whatever the setting for lists says. */
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
  const page = readPage(() => rows, query, locate, { assume, settings }, false)
  return { object: 'list', data: page.items, has_more: page.hasMore }
}

function refuseAsAsked(status: number, code: string, detail: string): never {
  if (!Number.isInteger(status) || status < 400 || status > 599)
    throw new Error(`refuse needs a status from 400 to 599, not ${status}`)
  if (isErrorCode(code)) return refuse(code, { detail: String(detail), status })
  const base = status < 500 ? 'bad_request' : 'internal_error'
  return refuse(base, { detail: String(detail), status, word: String(code) })
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
  const { body, headers = {}, ...rest } = result as { readonly body?: unknown; readonly headers?: object }
  const named = Object.entries(headers)
  const typeAt = named.findIndex(([name]) => name.toLowerCase() === 'content-type')
  const [[, type] = []] = typeAt === -1 ? [] : (named.splice(typeAt, 1) as [string, string][])
  const { data, error } = parsed(responseDraft(), { ...rest, headers: Object.fromEntries(named) })
  const [issue] = error === undefined ? [] : zodIssues(error, '')
  if (data === undefined) throw new Error(`it ${RESULT}: ${issue?.pointer} ${issue?.detail}`)
  if (type !== undefined && !headerValue().safeParse(type).success)
    throw new Error('the content-type that it returned is not valid')
  const { status, stream } = data
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  if (idempotent === true && (isRaw || stream !== undefined))
    throw new Error('an idempotent endpoint must return a JSON body: only that is replayed')
  return {
    ...(status !== undefined && { status }),
    headers: Object.entries(data.headers ?? {}),
    ...(stream && { stream: streamOf(stream) }),
    ...(isRaw && { bytes: Buffer.from(body as string), type: typeof body === 'string' ? TEXT : BYTES }),
    ...(!isRaw && body !== undefined && { body: jsonOf(body) as object }),
    ...(type !== undefined && { type }),
  }
}

const TEXT = 'text/plain; charset=utf-8'
const BYTES = 'application/octet-stream'

/** A body as JSON, without the facts of the emulator that records have, also in the rows of a list. */
function jsonOf(body: unknown): unknown {
  const { data, issues } = plainData(body)
  if (issues[0] !== undefined)
    throw new Error(`the body that it returned is not JSON: ${issues[0].pointer} ${issues[0].detail}`)
  if (!isObject(data)) return data
  const whole = shown(data)
  return Array.isArray(whole.data)
    ? { ...whole, data: whole.data.map((row) => (isObject(row) ? shown(row) : row)) }
    : whole
}
