import * as z from 'zod'
import { didYouMean } from '../did-you-mean.ts'
import { refuse } from '../errors.ts'
import { intBetween } from '../fields.ts'
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
import { responseHeaders } from '../request/headers.ts'
import type { Service } from '../service.ts'
import type { TableOf, Transaction } from '../state/transaction.ts'
import { type Clash, json, strictObject, together } from '../strict-input.ts'
import { zodIssues } from '../zod-issues.ts'

/** Who has written a stub. */
export type StubSource = 'control' | 'fixtures' | `scenario:${string}`

/**
 * The response of an endpoint that the specification shows no contract for, above all of those that read messages (U043,
 * U045), as a state document has it. Specification: Endpoints / Endpoints named without a contract.
 */
export const stub = strictObject({
  id: z.string().min(1),
  source: z.string().regex(/^(?:control|fixtures|scenario:.+)$/s, {
    error: 'must be control, fixtures, or scenario: and its name',
  }) as z.ZodType<string> as z.ZodType<StubSource>,
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  /** After `/v1`, with `{names}` for what varies: `/conversations/{id}/messages`. */
  path: path(),
  status: intBetween(200, 599),
  headers: ownHeaders(),
  /** Absent: the response has none. A `{"$request": pointer}` in it stands for a part of the request. */
  body: body().optional(),
})

export type Stub = Readonly<z.output<typeof stub>>

const draft = strictObject({
  /** Default `stub`, with a number where that is taken. */
  id: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'must have 1 to 200 characters of ASCII without blanks')
    .optional(),
  method: stub.shape.method,
  path: path(),
  /** Default 200. */
  status: intBetween(200, 599).optional(),
  headers: ownHeaders().optional(),
  body: body().optional(),
})

/** A stub as users write it. */
export type StubDraft = Readonly<z.output<typeof draft>>

/** The schema of a stub that users write. One for an operation that has a contract is refused. */
export function stubDraft(service: Service) {
  return together(draft, (given) => contractClash(given, service))
}

export const stubs: TableOf<Stub> = { name: '$stubs', label: 'stub' }

/** Stubs that one sandbox can have. */
export const MAX_STUBS = 1_000

/** Writes a stub whose draft has been checked. Refuses with `conflict` an id that is taken, and more than a sandbox can have. */
export function putStub(tx: Transaction, draft: StubDraft, source: StubSource): Stub {
  const table = tx.in(stubs)
  if ([...table].length >= MAX_STUBS) {
    refuse('conflict', {
      detail: `The sandbox has ${MAX_STUBS} stubs, which is as many as one can have.`,
      mitigation: 'DELETE /__emulator/stubs removes all of them, DELETE /__emulator/stubs/{id} one.',
    })
  }
  return table.insert(stubOf(draft, idFor(tx, draft), source))
}

/** Writes the stubs of a fixtures document. One with an id replaces that one. @returns how many */
export function writeStubs(tx: Transaction, drafts: readonly StubDraft[]): number {
  for (const draft of drafts) {
    if (draft.id !== undefined) tx.in(stubs).delete(draft.id)
    putStub(tx, draft, 'fixtures')
  }
  return drafts.length
}

/** The record of a draft. */
function stubOf(draft: StubDraft, id: string, source: StubSource): Stub {
  const { method, path, status = 200, headers = {}, body } = draft
  // A copy: the script can still change its own object.
  return structuredClone({
    id,
    source,
    method,
    path,
    status,
    headers,
    ...(body === undefined ? {} : { body }),
  })
}

/** What a stub answers: two of the same place are two answers of one endpoint, whatever they call its parameters. */
export function endpointOf({ method, path }: { readonly method?: unknown; readonly path?: unknown }): string {
  return `${String(method)} ${String(path).replaceAll(/\{[^/}]*\}/g, '{}')}`
}

/** Removes what one source has written. */
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
      detail: `There is a stub "${id}" already.`,
      mitigation: `Take another id, or remove that one first: DELETE /__emulator/stubs/${encodeURIComponent(id)}.`,
    })
  }
  let n = 2
  while (table.get(`${base}-${n}`) !== undefined) n += 1
  return `${base}-${n}`
}

/** Holds a stub against all that one may be. Issues have pointers into it. */
export function checkStub(
  raw: unknown,
  service: Service,
): { readonly draft: StubDraft } | { readonly issues: Issue[] } {
  const { data, error } = stubDraft(service).safeParse(raw)
  return error === undefined ? { draft: data } : { issues: zodIssues(error, '') }
}

/** Checks the stubs of a fixtures document or a scenario. Issues are added, with pointers below `/stubs`. */
export function acceptStubs(raw: unknown, service: Service, issues: Issue[]): StubDraft[] {
  if (!Array.isArray(raw)) {
    issues.push({ pointer: '/stubs', detail: 'must be an array of stubs' })
    return []
  }
  const places = new Map<string, number>()
  return raw.flatMap((each: unknown, index) => {
    const at = pointer('stubs', index)
    const checked = checkStub(each, service)
    if ('issues' in checked) {
      for (const issue of checked.issues) issues.push({ ...issue, pointer: at + issue.pointer })
      return []
    }
    const { draft } = checked
    const first = places.get(endpointOf(draft))
    if (first !== undefined) {
      issues.push({
        pointer: `${at}/path`,
        detail: `has the same method and path as /stubs/${first} already`,
      })
    }
    places.set(endpointOf(draft), index)
    return [draft]
  })
}

function ownHeaders() {
  return responseHeaders().superRefine((given, context) => {
    for (const name of Object.keys(given)) {
      if (OURS.test(name)) context.addIssue({ code: 'custom', path: [name], message: NOT_ITS_OWN })
    }
  })
}

const OURS =
  /^(?:content-(?:type|length|encoding)|transfer-encoding|connection|keep-alive|trailer|upgrade|date|x-ratelimit-.*|x-emulator-.*)$/i

const NOT_ITS_OWN =
  'cannot be set by a stub: its response is JSON, framed and counted like any other. A fault rule with "head" can change it'

function body(): z.ZodType<Json, Json> {
  return json().superRefine((value, context) => {
    for (const { path, message } of placeholderClashes(value))
      context.addIssue({ code: 'custom', path: [...path], message })
  })
}

const LITERAL = /^[A-Za-z0-9._~!$&'()*+,;=:@%-]+$/
const NAMED = /^\{[A-Za-z][A-Za-z0-9_]*\}$/

function path(): z.ZodType<string, string> {
  return z.string().superRefine((text, context) => {
    const message = pathProblem(text)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
}

function pathProblem(text: string): string | undefined {
  if (!text.startsWith('/')) return 'must begin with a slash, such as /search'
  if (text === '/v1' || text.startsWith('/v1/') || text.startsWith('/@'))
    return `must be the path after /v1, the same for every sandbox: ${text.replace(/^(?:\/@[^/]*)?(?:\/v1)?/, '') || '/search'}`
  if (/[?#]/.test(text)) return 'must have no query; a stub responds whatever the query is'
  if (text.length > 2_000) return 'must have at most 2000 characters'
  const segments = text.split('/').slice(1)
  const wrong = segments.find((segment) => !LITERAL.test(segment) && !NAMED.test(segment))
  if (wrong === '') return 'must have text between its slashes and after the last one'
  if (wrong !== undefined)
    return `has "${wrong}" where there may be plain text, percent-encoded, or one name in braces such as {id}`
  const names = segments.filter((segment) => segment.startsWith('{'))
  const twice = names.find((name, index) => names.indexOf(name) < index)
  return twice === undefined ? undefined : `has ${twice} twice`
}

// Where every request that fits the stub has a contract, the contract answers: the stub never would.
function contractClash({ method, path }: StubDraft, { operations }: Service): Clash[] {
  const segments = path.split('/')
  for (const operation of operations.values()) {
    if (!operation.contract || operation.method !== method) continue
    if (!covers(operation.path.split('/'), segments)) continue
    const message = `is ${operation.name}, which has a contract: no stub replaces it. A fault rule can: POST /__emulator/faults {"match": {"operation": "${operation.name}"}, "do": [{"respond": {"status": 200, "body": {}}}]}`
    return [{ path: ['path'], message }]
  }
  return []
}

function covers(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, index) => part.startsWith('{') || part === segments[index])
  )
}

/** The key of an object in a stub's body that is replaced by a part of the request. */
const MARK = '$request'

/** What of a request a stub can give back. */
const PARTS = ['method', 'path', 'params', 'query', 'headers', 'body']

/** What is wrong with the placeholders in a body. */
export function placeholderClashes(body: Json, path: readonly PropertyKey[] = []): Clash[] {
  if (Array.isArray(body)) return body.flatMap((each, index) => placeholderClashes(each, [...path, index]))
  if (!isObject(body)) return []
  if (!Object.hasOwn(body, MARK))
    return Object.entries(body).flatMap(([key, member]) => placeholderClashes(member, [...path, key]))
  if (Object.keys(body).length > 1) {
    return [{ path, message: `must have nothing beside ${MARK}, as the part of the request takes its place` }]
  }
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
 * A body with its placeholders replaced by parts of the request, exactly as they came. A field whose part the
 * request does not have is left out; in a list, or as the whole body, it is null.
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
