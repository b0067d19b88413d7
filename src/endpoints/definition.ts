import { isAbsolute, relative } from 'node:path'
import { z } from 'zod'
import { placeNoted, problemLine } from '../adapters/scenarios/problem.ts'
import { SYNCHRONOUS } from '../adapters/scenarios/run-function.ts'
import { nonEmptyText } from '../core/fields.ts'
import { isObject } from '../core/json.ts'
import type { ScriptProblem } from '../core/scenarios/source.ts'
import {
  contractClash,
  endpointOf,
  responseDraft,
  type StubRoute,
  stub,
  variantClash,
  variantFields,
} from '../core/scenarios/stub.ts'
import type { Service } from '../core/service.ts'
import { strictObject, together } from '../core/strict-input.ts'
import { parsed, zodIssues } from '../core/zod-issues.ts'
import type { Endpoint } from './define.ts'
import { type Checker, checkerOf, type EndpointSchema } from './schema.ts'

const schemaFor = (use: 'input' | 'output') =>
  z
    .unknown()
    .transform((schema, context): Checker => {
      try {
        return checkerOf(schema as EndpointSchema, use)
      } catch (error) {
        context.issues.push({ code: 'custom', input: schema, message: (error as Error).message })
        return z.NEVER
      }
    })
    .optional()

const isAsync = (value: unknown) => /Async|Generator/.test(Object.prototype.toString.call(value))

const fields = () =>
  strictObject({
    method: stub().shape.method,
    path: stub().shape.path,
    name: z
      .string()
      .regex(/^[a-z][\w-]*(?:\.[\w-]+)+$/i, 'must have two parts or more, such as notes.list')
      .optional(),
    summary: nonEmptyText().optional(),
    query: schemaFor('input'),
    body: schemaFor('input'),
    output: schemaFor('output'),
    idempotent: z.boolean().optional(),
    auth: z.boolean().optional(),
    accept: z.enum(['json', 'bytes']).optional(),
    handle: z
      .custom<NonNullable<Endpoint['handle']>>((value) => typeof value === 'function', {
        error: 'must be a function',
        abort: true,
      })
      .refine((value) => !isAsync(value), { error: `must be neither async nor a generator; ${SYNCHRONOUS}` })
      .optional(),
    response: responseDraft().optional(),
    ...variantFields(),
  })

/** An endpoint of the user after all checks: of a script, or of an OpenAPI document. */
export interface Definition extends Omit<z.output<ReturnType<typeof fields>>, 'name' | 'response'> {
  /** Of its operation. */
  readonly name: string
  readonly source: Pick<ScriptProblem, 'file' | 'line'>
  /** Whether it is of an OpenAPI document: then it never replaces records, and responds last. */
  readonly example?: true
  /** Why it has no response, and the way out: the detail of its 501. */
  readonly unanswered?: string | undefined
}

/** Where a definition is written: `file:line`. */
export function definedAt({ source }: Definition): string {
  return problemLine({ ...source, message: '' })
}

/** A file as people see it. */
export const shownFile = (file: string): string => (isAbsolute(file) ? relative('', file) : file)

/** Checks what a file exports, or what was given: an endpoint or a list of them. */
export function checkEndpoints(
  raw: unknown,
  file: string,
  service: Service,
): { readonly definitions: readonly Definition[]; readonly problems: readonly ScriptProblem[] } {
  const schema = together(fields(), (given) => {
    const { response, responses, cycle, handle, idempotent, match, body, accept, method } = given
    const ways = [handle, response, responses].filter((each) => each !== undefined)
    const hasStream = [response, ...(responses ?? [])].some((each) => each?.stream !== undefined)
    const wrong = (field: string, isWrong: unknown, message: string) =>
      isWrong ? [{ path: field === '' ? [] : [field], message }] : []
    return [
      ...contractClash(given, service, 'no endpoint of your own replaces it'),
      ...variantClash({ responses, cycle }),
      ...wrong('', ways.length !== 1, 'must have exactly one of handle, response and responses'),
      ...wrong('idempotent', hasStream && idempotent, 'must be false for a stream, which cannot be replayed'),
      ...wrong('body', method === 'GET' && body, 'must be absent: a GET has no body'),
      ...wrong(
        'accept',
        accept === 'bytes' && (match?.body ?? body),
        'must be json, for a schema or a match of the body',
      ),
    ]
  })
  const definitions: Definition[] = []
  const problems: ScriptProblem[] = []
  for (const [index, each] of [raw].flat().entries()) {
    const { file: at = file, line } = (isObject(each) && placeNoted(each)) || {}
    const source = { file: shownFile(at), ...(line !== undefined && { line }) }
    const { data, error } = parsed(schema, each)
    if (error === undefined) {
      const {
        response,
        responses = response && [response],
        name = defaultName(data, service),
        ...rest
      } = data
      definitions.push({ ...rest, responses, name, source })
    } else
      for (const { pointer, detail } of zodIssues(error, Array.isArray(raw) ? `/${index}` : ''))
        problems.push({ ...source, pointer, message: detail })
  }
  return { definitions, problems }
}

const VERBS = { GET: 'list', POST: 'create', PATCH: 'update', DELETE: 'delete', PUT: 'replace' } as const

/** The name of the operation at the same place of the service, or segments and method: `notes.list`. */
export function defaultName({ method, path }: StubRoute, { operations }: Service): string {
  const place = endpointOf({ method, path })
  const known = [...operations.values()].find((each) => endpointOf(each) === place)
  const fixed = path.split('/').filter((each) => each !== '' && !each.startsWith('{'))
  const verb = method === 'GET' && path.endsWith('}') ? 'retrieve' : VERBS[method]
  return known?.name ?? [...fixed.map((each) => each.replaceAll(/[^\w-]/g, '_')), verb].join('.')
}

/** A function that finds what is wrong between a definition and those that it was given before. */
export function clashFinder({ operations }: Service): (definition: Definition) => readonly ScriptProblem[] {
  const earlier = new Map<string, Definition>()
  return (definition) => {
    const { method, path, name, match, example = '', source } = definition
    const place = endpointOf({ method, path })
    const [one, all] = [`${example} ${place} ${JSON.stringify(match)}`, `${example} ${place}`]
    const [same, near, namesake] = [one, all, name].map((key) => earlier.get(key))
    const taken = [operations.get(name), namesake].find(
      (each) => each && endpointOf({ ...each, match: undefined }) !== place,
    )
    for (const key of [one, all, name]) if (!earlier.has(key)) earlier.set(key, definition)
    const found: string[] = []
    if (taken !== undefined)
      found.push(`has the name ${name}, as ${taken.method} ${taken.path} has; give it another "name"`)
    if (same !== undefined)
      found.push(
        `is defined at ${definedAt(same)} too, with the same match; give one of them another "match"`,
      )
    else if (near !== undefined)
      for (const field of ['path', 'accept', 'auth', 'name'] as const)
        if ((near[field] ?? USUAL[field]) !== (definition[field] ?? USUAL[field]))
          found.push(
            `is defined at ${definedAt(near)} too, with another "${field}"; it must be the same in both`,
          )
    return found.map((message) => ({ ...source, message: `${method} ${path} ${message}` }))
  }
}

const USUAL = { path: '', accept: 'json', auth: true, name: '' }
