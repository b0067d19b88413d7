import * as z from 'zod'
import { headers } from '../faults/schema/bytes.ts'
import { intBetween } from '../fields.ts'
import { type Issue, type Json, pointer } from '../json.ts'
import type { Service } from '../operation.ts'
import { type Clash, json, strictObject, together } from '../strict-input.ts'
import { zodIssues } from '../zod-issues.ts'
import { placeholderClashes } from './placeholders.ts'
import { placeOf, type Stub, type StubDraft } from './stub.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** A stub as a user writes it. One for an operation that has a contract is refused. */
export const stubDraft = (service: Service): z.ZodType<StubDraft, StubDraft> => {
  const shape = strictObject({
    id: z
      .string()
      .regex(/^[\x21-\x7e]{1,200}$/, 'must have 1 to 200 characters of ASCII without blanks')
      .optional(),
    method: z.enum(METHODS),
    path: path(),
    status: status().optional(),
    headers: ownHeaders().optional(),
    body: body().optional(),
  })
  return together(shape, (draft) => contractClash(draft, service))
}

/** A stub as a state document has it. */
export const stubRecord = (): z.ZodType<Stub> =>
  strictObject({
    id: z.string().min(1),
    source: z.string().regex(/^(?:control|fixtures|scenario:.+)$/s, {
      error: 'must be control, fixtures, or scenario: and its name',
    }),
    method: z.enum(METHODS),
    path: path(),
    status: status(),
    headers: ownHeaders(),
    body: body().optional(),
  }) as z.ZodType<unknown> as z.ZodType<Stub>

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
    const first = places.get(placeOf(draft))
    if (first !== undefined) {
      issues.push({ pointer: `${at}/path`, detail: `is answered by /stubs/${first} already` })
    }
    places.set(placeOf(draft), index)
    return [draft]
  })
}

function status() {
  return intBetween(200, 599)
}

function ownHeaders() {
  return headers().superRefine((given, context) => {
    for (const name of Object.keys(given)) {
      if (OURS.test(name)) context.addIssue({ code: 'custom', path: [name], message: NOT_ITS_OWN })
    }
  })
}

const OURS =
  /^(?:content-(?:type|length|encoding)|transfer-encoding|connection|keep-alive|trailer|upgrade|date|x-ratelimit-.*|x-emulator-.*)$/i

const NOT_ITS_OWN =
  'is not a stub\'s to say: its answer is JSON, framed and counted like any other. A fault rule with "head" can change it'

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
    return `begins behind /v1, in whatever sandbox: ${text.replace(/^(?:\/@[^/]*)?(?:\/v1)?/, '') || '/search'}`
  if (/[?#]/.test(text)) return 'is without a query; a stub answers whatever the query'
  if (text.length > 2_000) return 'must have at most 2000 characters'
  const segments = text.split('/').slice(1)
  const wrong = segments.find((segment) => !LITERAL.test(segment) && !NAMED.test(segment))
  if (wrong === '') return 'must have something between its slashes and behind the last'
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
    const message = `is ${operation.name}, which has a contract: no stub answers it. A fault rule can: POST /__emulator/faults {"match": {"operation": "${operation.name}"}, "do": [{"respond": {"status": 200, "body": {}}}]}`
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
