import { z } from 'zod'
import { didYouMean } from '../did-you-mean.ts'
import { refuse } from '../errors.ts'
import { intBetween, type ShapeOf } from '../fields.ts'
import type { IssueList } from '../issue-list.ts'
import {
  type Issue,
  isObject,
  isPointer,
  type Json,
  type JsonObject,
  keysOf,
  pointer,
  valueAt,
} from '../json.ts'
import { requestMembers } from '../log/request-criteria.ts'
import { once } from '../once.ts'
import type { AnyOperation } from '../operation.ts'
import { responseHeaders } from '../request/headers.ts'
import { streamDraft } from '../request/stream.ts'
import type { Service } from '../service.ts'
import type { TableOf, Transaction } from '../state/transaction.ts'
import { type Clash, json, someOf, strictObject, together } from '../strict-input.ts'
import { parsed, zodIssues } from '../zod-issues.ts'

/** The origin of a stub. */
export type StubSource = 'control' | 'fixtures' | `scenario:${string}`

/** One response of a stub, or of an endpoint of the user. */
const responseFields = () => ({
  status: intBetween(200, 599),
  headers: responseHeaders((name) => (OURS.test(name) ? NOT_ITS_OWN : undefined)),
  /** Absent: the response has no body. A `{"$request": pointer}` in it is replaced by a part of the request. */
  body: together(json(), (value) => placeholderClashes(value)).optional(),
  /** The body in parts, in place of `body`. */
  stream: streamDraft().optional(),
})

/** One response as users write it. Default: the status 200, and no headers. */
export const responseDraft = once(() =>
  together(strictObject(responseFields()).partial({ status: true, headers: true }), bodyClash),
)

export type ResponseDraft = ShapeOf<typeof responseDraft>

/** The responses of a path, and the requests that they are for. */
export const variantFields = () => ({
  /** Given in turn, in place of one response; the last one stays. */
  responses: z.array(responseDraft()).min(1).max(100).optional(),
  /** Whether the responses begin again after the last one. */
  cycle: z.boolean().optional(),
  /** As in the match of a fault rule. Of several that fit, the one with the most conditions responds. */
  match: requestMatch().optional(),
})

function requestMatch() {
  const { query, headers, body } = requestMembers({ operations: new Map() })
  return someOf({ query, headers, body })
}

/** The conditions of a variant. */
export type VariantMatch = NonNullable<z.output<ReturnType<typeof variantFields>['match']>>

/**
 * The response of an endpoint without a contract in the specification, mainly of those that read messages (U043, U045), as in
 * a state document. Specification: Endpoints / Endpoints named without a contract.
 */
export const stub = () =>
  strictObject({
    id: z.string().min(1),
    source: z.string().regex(/^(?:control|fixtures|scenario:.+)$/s, {
      error: 'must be control, fixtures, or scenario:<name>',
    }) as z.ZodType<string> as z.ZodType<StubSource>,
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    /** The path after `/v1`, with `{names}` for parameters: `/conversations/{id}/messages`. */
    path: endpointPath(),
    ...responseFields(),
    ...variantFields(),
  })

export type Stub = ShapeOf<typeof stub>

const draft = () =>
  strictObject({
    /** Default `stub`, or `stub-2` and so on when that exists. */
    id: z
      .string()
      .regex(/^[\x21-\x7e]{1,200}$/, 'must have 1 to 200 characters of ASCII without blanks')
      .optional(),
    // Default: the status 200, and no headers.
    ...stub().omit({ id: true, source: true }).partial({ status: true, headers: true }).shape,
  })

/** A stub as users write it. */
export type StubDraft = ShapeOf<typeof draft>

/** The response to give, or a list of them. */
export type Responses = ResponseDraft & Pick<StubDraft, 'responses' | 'cycle'>

export type StubRoute = Pick<StubDraft, 'method' | 'path'>

/** The schema of a stub that users write. It refuses a stub for an operation that has a contract. */
export function stubDraft(service: Service) {
  return together(draft(), (given) => [...contractClash(given, service), ...variantClash(given)])
}

export const stubs: TableOf<Stub> = { name: '$stubs', label: 'stub' }

/** The maximum number of stubs of one sandbox. */
export const MAX_STUBS = 1_000

/** Writes a stub whose draft has been checked. Refuses with `conflict` an existing id, and more than {@link MAX_STUBS} stubs. */
export function putStub(tx: Transaction, draft: StubDraft, source: StubSource): Stub {
  const table = tx.in(stubs)
  if ([...table].length >= MAX_STUBS) {
    refuse('conflict', {
      detail: `The sandbox has ${MAX_STUBS} stubs, the maximum.`,
      mitigation:
        '"workspace-emulator call DELETE /stubs" removes all stubs, "workspace-emulator call DELETE /stubs/ID" removes one.',
    })
  }
  const { id: _, method, path, status = 200, headers = {}, ...rest } = draft
  const stub = { id: idFor(tx, draft), source, method, path, status, headers }
  tx.delete(servedResponses.name, servedId({ stub: stub.id }))
  // A copy, because the script can still change its own object. Fields without a value are left out.
  return table.insert(JSON.parse(JSON.stringify({ ...stub, ...rest })) as Stub)
}

/** Writes the stubs of a fixtures document. A stub with an id replaces the one with that id. @returns how many */
export function writeStubs(tx: Transaction, drafts: readonly StubDraft[]): number {
  for (const draft of drafts) {
    if (draft.id !== undefined) tx.in(stubs).delete(draft.id)
    putStub(tx, draft, 'fixtures')
  }
  return drafts.length
}

/** How many responses of a list have been given. */
export const servedResponses: TableOf<{ readonly id: string; readonly count: number }> = {
  name: '$served',
  label: 'count of responses',
}

/** The id of a count. */
export function servedId(of: { readonly stub: string } | { readonly endpoint: string }): string {
  return JSON.stringify(of)
}

/** The requests of a stub, without the names of parameters: two stubs for the same requests are two responses of them. */
export function endpointOf({ method, path, match }: Partial<Record<'method' | 'path' | 'match', unknown>>) {
  const place = `${String(method)} ${String(path).replaceAll(/\{[^/}]*\}/g, '{}')}`
  return match === undefined ? place : `${place} ${JSON.stringify(match)}`
}

/** Removes the stubs of a source. */
export function dropStubs(tx: Transaction, source: StubSource): void {
  const table = tx.in(stubs)
  for (const { id } of table.filter((stub) => stub.source === source)) table.delete(id)
}

function idFor(tx: Transaction, { id }: StubDraft): string {
  const table = tx.in(stubs)
  const base = id ?? 'stub'
  if (table.get(base) === undefined) return base
  if (id !== undefined) {
    refuse('conflict', {
      detail: `A stub "${id}" already exists.`,
      mitigation: `Use another id, or remove that stub first: "workspace-emulator call DELETE /stubs/${encodeURIComponent(id)}".`,
    })
  }
  let n = 2
  while (table.get(`${base}-${n}`) !== undefined) n += 1
  return `${base}-${n}`
}

/** Checks a stub that users write. Issues have pointers into the stub. */
export function checkStub(
  raw: unknown,
  service: Service,
): { readonly draft: StubDraft } | { readonly issues: Issue[] } {
  const { data, error } = parsed(stubDraft(service), raw)
  return error === undefined ? { draft: data } : { issues: zodIssues(error, '') }
}

/** Checks the stubs of a fixtures document or a scenario. Issues are added, with pointers below `/stubs`. */
export function acceptStubs(raw: unknown, service: Service, issues: IssueList): StubDraft[] {
  if (!Array.isArray(raw)) {
    issues.push({ pointer: '/stubs', detail: 'must be an array of stubs' })
    return []
  }
  const places = new Map<string, number>()
  return raw.flatMap((each: unknown, index) => {
    if (issues.isFull) {
      issues.leaveOut({ unchecked: 1 })
      return []
    }
    const at = pointer('stubs', index)
    const checked = checkStub(each, service)
    if ('issues' in checked) {
      issues.addAll(checked.issues, at)
      return []
    }
    const { draft } = checked
    const first = places.get(endpointOf(draft))
    if (first !== undefined) {
      issues.push({
        pointer: `${at}/path`,
        detail: `has the same method and path as /stubs/${first}`,
      })
    }
    places.set(endpointOf(draft), index)
    return [draft]
  })
}

const OURS =
  /^(?:content-(?:type|length|encoding)|transfer-encoding|connection|keep-alive|trailer|upgrade|date|x-ratelimit-.*|x-emulator-.*)$/i

const NOT_ITS_OWN =
  'cannot be set by a stub: the emulator sets it for every response. A fault rule with "head" can change it'

const LITERAL = /^[A-Za-z0-9._~!$&'()*+,;=:@%-]+$/
const NAMED = /^\{[A-Za-z][A-Za-z0-9_]*\}$/

function endpointPath(): z.ZodType<string, string> {
  return z.string().refine((text) => pathProblem(text) === undefined, {
    error: ({ input }) => pathProblem(String(input)),
  })
}

/** Why a text is no path template after `/v1`; undefined for one that is. */
export function pathProblem(text: string): string | undefined {
  if (!text.startsWith('/')) return 'must begin with a slash, such as /search'
  if (text === '/v1' || text.startsWith('/v1/') || text.startsWith('/@'))
    return `must be the path after /v1, the same for every sandbox: ${text.replace(/^(?:\/@[^/]*)?(?:\/v1)?/, '') || '/search'}`
  if (/[?#]/.test(text)) return 'must have no query; a stub responds to every query'
  if (text.length > 2_000) return 'must have at most 2000 characters'
  const segments = text.split('/').slice(1)
  const wrong = segments.find((segment) => !LITERAL.test(segment) && !NAMED.test(segment))
  if (wrong === '') return 'must have text between its slashes and after the last one'
  if (wrong !== undefined)
    return `has "${wrong}" where there may be plain text, percent-encoded, or one name in braces such as {id}`
  const dots = segments.find((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))
  if (dots !== undefined) return `must have no segment "${dots}": clients resolve it; write the resolved path`
  const names = segments.filter((segment) => segment.startsWith('{'))
  const twice = names.find((name, index) => names.indexOf(name) < index)
  return twice === undefined ? undefined : `has ${twice} twice`
}

function bodyClash({ body, stream }: { readonly body?: unknown; readonly stream?: unknown }): Clash[] {
  if (body === undefined || stream === undefined) return []
  return [{ path: ['stream'], message: 'cannot be given together with body, which it replaces' }]
}

/** What excludes another field of a stub, or of an endpoint of the user. */
export function variantClash({ responses, cycle, ...one }: Responses): Clash[] {
  if (responses === undefined)
    return [
      ...bodyClash(one),
      ...(cycle === undefined ? [] : [{ path: ['cycle'], message: 'needs responses, a list' }]),
    ]
  return RESPONSE.filter((name) => one[name] !== undefined).map((name) => ({
    path: [name],
    message: 'cannot be given together with responses; write it in each of them',
  }))
}

const RESPONSE = ['status', 'headers', 'body', 'stream'] as const

/** The operation with a contract that all requests to a path match, if there is one. */
export function contractedBy({ method, path }: StubRoute, { operations }: Service): AnyOperation | undefined {
  const segments = path.split('/')
  return [...operations.values()].find((operation) => {
    if (!operation.contract || operation.method !== method) return false
    const template = operation.path.split('/')
    const covers = template.every((part, index) => part.startsWith('{') || part === segments[index])
    return covers && template.length === segments.length
  })
}

// Such a stub would never respond.
export function contractClash(draft: StubRoute, service: Service, refusal = 'no stub replaces it'): Clash[] {
  const operation = contractedBy(draft, service)
  if (operation === undefined) return []
  const message = `is ${operation.name}, which has a contract: ${refusal}. A fault rule can ("workspace-emulator faults add RULE"): {"match": {"operation": "${operation.name}"}, "do": [{"respond": {"status": 200, "body": {}}}]}`
  return [{ path: ['path'], message }]
}

/** The key of an object in a stub's body that is replaced by a part of the request. */
const MARK = '$request'

const NOT_ALONE = `must have no field other than ${MARK}, because the part of the request replaces the whole object`

/** The parts of a request that a stub can return. */
const PARTS = ['method', 'path', 'params', 'query', 'headers', 'body']

/** The problems of the placeholders in a body. */
export function placeholderClashes(body: Json, path: readonly PropertyKey[] = []): Clash[] {
  if (Array.isArray(body)) return body.flatMap((each, index) => placeholderClashes(each, [...path, index]))
  if (!isObject(body)) return []
  if (!Object.hasOwn(body, MARK))
    return Object.entries(body).flatMap(([key, member]) => placeholderClashes(member, [...path, key]))
  if (Object.keys(body).length > 1) return [{ path, message: NOT_ALONE }]
  const message = problemOf(body[MARK] ?? null)
  return message === undefined ? [] : [{ path: [...path, MARK], message }]
}

function problemOf(place: Json): string | undefined {
  if (typeof place !== 'string' || !isPointer(place) || place === '')
    return 'must be a JSON Pointer into the request, such as /body/knowledge_ids'
  const [part = ''] = keysOf(place)
  if (PARTS.includes(part)) return undefined
  return `must begin with one of ${PARTS.map((each) => `/${each}`).join(', ')}.${didYouMean(part, PARTS)}`
}

/**
 * A body with its placeholders replaced by unchanged parts of the request. When the request does not have the part, a field
 * is left out, and an item of a list or the whole body is null.
 */
export function filled(body: Json, request: JsonObject): Json {
  return fill(body, request) ?? null
}

function fill(body: Json, request: JsonObject): Json | undefined {
  if (Array.isArray(body)) return body.map((each) => fill(each, request) ?? null)
  if (!isObject(body)) return body
  const place = Object.hasOwn(body, MARK) ? body[MARK] : undefined
  if (typeof place === 'string') return valueAt(request, place)
  const members = Object.entries(body).flatMap(([key, member]) => {
    const value = fill(member, request)
    return value === undefined ? [] : [[key, value] as const]
  })
  return Object.fromEntries(members)
}
