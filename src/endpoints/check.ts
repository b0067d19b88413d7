import { relative } from 'node:path'
import * as z from 'zod'
import { placeNoted } from '../adapters/scenarios/problem.ts'
import { SYNCHRONOUS } from '../adapters/scenarios/run-function.ts'
import { nonEmptyText } from '../core/fields.ts'
import { isObject } from '../core/json.ts'
import { once } from '../core/once.ts'
import type { AnyOperation, Method } from '../core/operation.ts'
import type { ScriptProblem } from '../core/scenarios/source.ts'
import {
  contractClash,
  endpointOf,
  endpointPath,
  type ResponseDraft,
  responseDraft,
  type VariantMatch,
  variantClash,
  variantFields,
} from '../core/scenarios/stub.ts'
import type { Service } from '../core/service.ts'
import { strictObject, together } from '../core/strict-input.ts'
import { parsed, zodIssues } from '../core/zod-issues.ts'
import type { Endpoint } from './define.ts'
import type { EndpointDefinition } from './definition.ts'
import { type Checker, checkerOf, type EndpointSchema } from './schema.ts'

/** An endpoint of a user after all checks. */
export interface Definition {
  readonly method: Method
  readonly path: string
  /** Undefined: it follows from method and path. */
  readonly name?: string | undefined
  readonly summary?: string | undefined
  /** Where it is written: `file:line`. */
  readonly place: string
  readonly query?: Checker | undefined
  readonly body?: Checker | undefined
  readonly output?: Checker | undefined
  readonly idempotent?: boolean | undefined
  readonly auth?: boolean | undefined
  readonly accept?: 'json' | 'bytes' | undefined
  readonly match?: VariantMatch | undefined
  readonly handle?: Endpoint['handle'] | undefined
  /** The responses in turn of a definition without a function. */
  readonly responses?: readonly ResponseDraft[] | undefined
  readonly cycle?: boolean | undefined
  /** Why it has no response, and the way out: the detail of its 501. */
  readonly unanswered?: string | undefined
  /** For an example of an OpenAPI document, which never replaces records; otherwise absent. */
  readonly example?: true
}

/** Functions of users return what they like; so a schema is checked by its fields. */
const schemaOf = (use: 'input' | 'output') =>
  z
    .custom<EndpointSchema>(
      (value) => (typeof value === 'object' && value !== null) || typeof value === 'function',
      {
        error: 'must be a schema of zod, Valibot or ArkType, or a JSON Schema',
        abort: true,
      },
    )
    .transform((schema, context): Checker => {
      try {
        return checkerOf(schema, use)
      } catch (error) {
        context.issues.push({ code: 'custom', input: schema, message: (error as Error).message })
        return z.NEVER
      }
    })
    .optional()

const handler = z
  .custom<NonNullable<Endpoint['handle']>>((value) => typeof value === 'function', {
    error: 'must be a function',
    abort: true,
  })
  .refine(
    (value) => !/^\[object (?:Async|Generator|AsyncGenerator)/.test(Object.prototype.toString.call(value)),
    {
      error: `must be neither async nor a generator; ${SYNCHRONOUS}`,
    },
  )

const fields = strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: endpointPath(),
  name: z
    .string()
    .regex(/^[a-z][\w-]*(?:\.[\w-]+)+$/i, 'must have two parts or more, such as notes.list')
    .optional(),
  summary: nonEmptyText().optional(),
  query: schemaOf('input'),
  body: schemaOf('input'),
  output: schemaOf('output'),
  idempotent: z.boolean().optional(),
  auth: z.boolean().optional(),
  accept: z.enum(['json', 'bytes']).optional(),
  handle: handler.optional(),
  response: responseDraft.optional(),
  ...variantFields,
})

/** A definition of an OpenAPI document, whose schemas are compiled with its first request. */
export function definitionOfExample({
  source,
  isExample: _,
  response,
  query,
  body,
  output,
  ...rest
}: EndpointDefinition): Definition {
  const lazily = (schema: EndpointSchema | undefined, use: 'input' | 'output'): Checker | undefined => {
    const made = once(() => checkerOf(schema as EndpointSchema, use))
    return schema && { check: (value) => made().check(value), jsonSchema: schema as object }
  }
  return {
    ...rest,
    query: lazily(query, 'input'),
    body: lazily(body, 'input'),
    output: lazily(output, 'output'),
    ...(response && { responses: [response] }),
    example: true,
    place: `${relative('', source.file)}:${source.line}`,
  }
}

/** Checks what a file exports, or what was given: an endpoint or a list of them. All problems have a place. */
export function checkEndpoints(
  raw: unknown,
  file: string,
  service: Service,
): { readonly definitions: readonly Definition[]; readonly problems: readonly ScriptProblem[] } {
  const all = Array.isArray(raw) ? raw : [raw]
  const schema = together(fields, (given) => {
    const { response, responses, handle, cycle, idempotent, match, body, accept } = given
    const ways = [handle, response, responses].filter((each) => each !== undefined).length
    const stream = [response, ...(responses ?? [])].some((each) => each?.stream !== undefined)
    return [
      ...contractClash(given, service, DEFINED),
      ...variantClash({
        method: given.method,
        path: given.path,
        responses: responses ?? (response && [response]),
      }),
      ...(cycle === undefined || responses ? [] : [{ path: ['cycle'], message: 'needs responses, a list' }]),
      ...(ways === 1
        ? []
        : [{ path: [], message: 'must have exactly one of handle, response and responses' }]),
      ...(stream && idempotent
        ? [{ path: ['idempotent'], message: 'must be false for a stream, which cannot be replayed' }]
        : []),
      ...(given.method === 'GET' && body
        ? [{ path: ['body'], message: 'must be absent: a GET has no body' }]
        : []),
      ...(accept === 'bytes' && (match?.body || body)
        ? [{ path: ['accept'], message: 'must be json, for a schema or a match of the body' }]
        : []),
      ...(contractNamed(given.name, service)
        ? [{ path: ['name'], message: `is the name of an operation that has a contract; choose another one` }]
        : []),
    ]
  })
  const definitions: Definition[] = []
  const problems: ScriptProblem[] = []
  for (const [index, each] of all.entries()) {
    const place = isObject(each) ? placeNoted(each) : undefined
    const { data, error } = parsed(schema, each)
    if (error === undefined) {
      const { response, ...definition } = data
      const at = place === undefined ? file : `${place.file}:${place.line}`
      const shown = at.startsWith('/') || /^[A-Z]:/i.test(at) ? relative('', at) : at
      definitions.push({ ...definition, ...(response && { responses: [response] }), place: shown })
    } else
      for (const { pointer, detail } of zodIssues(error, Array.isArray(raw) ? `/${index}` : ''))
        problems.push({ file, ...place, pointer, message: detail })
  }
  return { definitions, problems }
}

const DEFINED = 'no endpoint of your own replaces it'

function contractNamed(name: string | undefined, { operations }: Service): boolean {
  return name !== undefined && operations.get(name)?.contract === true
}

/** The problems between definitions: two of one request, and two of one path that differ in what is decided before its body. */
export function clashesOf(
  definitions: readonly Definition[],
): (ScriptProblem & { readonly at: Definition })[] {
  const seen = new Map<string, Definition>()
  const problems: (ScriptProblem & { readonly at: Definition })[] = []
  for (const definition of definitions) {
    const [file = '', line] = definition.place.split(/:(?=\d+$)/)
    const at = { file, ...(line !== undefined && { line: Number(line) }) }
    const { method, path, example } = definition
    const problem = (message: string) =>
      problems.push({ ...at, message: `${method} ${path} ${message}`, at: definition })
    const kind = example ? 'example ' : ''
    const same = seen.get(kind + endpointOf(definition))
    const near = seen.get(kind + endpointOf({ method, path }) + ANY)
    if (same !== undefined)
      problem(`is defined at ${same.place} too, with the same match; give one of them another "match"`)
    else if (near !== undefined)
      for (const name of ['accept', 'auth', 'name'] as const)
        if ((near[name] ?? USUAL[name]) !== (definition[name] ?? USUAL[name]))
          problem(`is defined at ${near.place} too, with another "${name}"; it must be the same in both`)
    seen.set(kind + endpointOf(definition), definition)
    seen.set(kind + endpointOf({ method, path }) + ANY, definition)
  }
  return problems
}

const ANY = ' any'
const USUAL = { accept: 'json', auth: true, name: undefined }

const VERBS = { GET: 'list', POST: 'create', PATCH: 'update', DELETE: 'delete', PUT: 'replace' } as const

/** The name of a definition: its own, that of the operation at its path, or segments and method. */
export function operationNameOf({ name, method, path }: Definition, at: AnyOperation | undefined): string {
  const segments = path.split('/').slice(1)
  const isOne = method === 'GET' && segments.at(-1)?.startsWith('{') === true
  const words = segments
    .filter((each) => !each.startsWith('{'))
    .map((each) => each.replaceAll(/[^\w-]/g, '_'))
  return (
    name ??
    at?.name ??
    [...(words.length > 0 ? words : ['root']), isOne ? 'retrieve' : VERBS[method]].join('.')
  )
}
