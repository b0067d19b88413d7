import { z } from 'zod'
import { bodyLimit } from '../../../core/core-assumptions.ts'
import { type ErrorKind, errorKinds } from '../../../core/error-kinds.ts'
import { type ErrorTarget, problemType, shownCode } from '../../../core/errors.ts'
import { list, listOf, objectAs, type ShapeOf } from '../../../core/fields.ts'
import type { JsonObject } from '../../../core/json.ts'
import { refuseUnknown } from '../../../core/refuse-unknown.ts'
import { successOf } from '../../../core/request/response.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { controlDocument } from '../openapi/control.ts'
import { workspaceDocument } from '../openapi/workspace.ts'
import { BASE, route } from '../route.ts'

/** The fields of every OpenAPI document. */
const openApiDocument = () =>
  z.looseObject({
    openapi: z.literal('3.1.0'),
    info: objectAs(),
    paths: objectAs(),
  }) as z.ZodType<unknown> as z.ZodType<JsonObject>

const which = () => z.strictObject({ api: z.enum(['control', 'workspace']).default('control') })

/** One operation of the emulated API. */
const operationView = () =>
  z.strictObject({
    name: z.string(),
    method: z.string(),
    /** Template below `/v1`. */
    path: z.string(),
    summary: z.string(),
    /** Heading of its section in the specification. */
    section: z.string(),
    /** The form of its errors. */
    errorFormat: z.enum(['standard', 'problem']),
    /** Whether the specification shows its request and response. */
    contract: z.boolean(),
    beta: z.boolean(),
    idempotent: z.boolean(),
    /** The only kind of key that may call it; null for any. */
    principal: z.string().nullable(),
    /** Status of success. */
    success: z.int(),
    /** Bytes. */
    body_limit: z.int(),
    limit: z.strictObject({ limit: z.number(), window_s: z.number() }),
  })

export type OperationView = ShapeOf<typeof operationView>

/** One error code of the emulated API. */
const problemView = () =>
  z.strictObject({
    code: z.string(),
    /** URI of the problem type. */
    type: z.string(),
    title: z.string(),
    status: z.int(),
    /** The setting that decides the status; null where the specification does. */
    status_setting: z.string().nullable(),
    /** Whether the same request can succeed later. */
    retryable: z.boolean(),
    meaning: z.string(),
    mitigation: z.string().nullable(),
  })

export type ProblemView = ShapeOf<typeof problemView>

/** The reference of the emulated API: its operations, OpenAPI documents and error codes. */
export const referenceRoutes = [
  route('GET /operations', {
    name: 'operations.list',
    summary: 'List the operations of the emulated API',
    returns: 'Each operation with its limits in force.',
    output: () => listOf(operationView()),
    handle: ({ sandbox }) => ({ body: list(operationsOf(sandbox)) }),
  }),
  route('GET /openapi.json', {
    name: 'openapi',
    summary: 'Describe this interface, or with api=workspace the emulated API, in OpenAPI 3.1',
    returns: 'An OpenAPI document.',
    input: () => ({ query: which() }),
    output: openApiDocument,
    handle: ({ host, sandbox, routes, query, controlUrl }) => ({
      body:
        query.api === 'workspace'
          ? workspaceDocument(
              host.service,
              sandbox.settings,
              host.contract,
              `${controlUrl.slice(0, -BASE.length)}/v1`,
            )
          : controlDocument(routes, sandbox.settings, host),
    }),
  }),
  route('GET /problems', {
    name: 'problems.list',
    summary: 'List every error code of the emulated API',
    returns: 'Code, title, status and meaning of each.',
    output: () => listOf(problemView()),
    handle: ({ sandbox, controlUrl }) => ({ body: list(problemsOf(sandbox, controlUrl)) }),
  }),
  route('GET /problems/{code}', {
    name: 'problems.show',
    summary: 'Explain one error code; the type of a problem is the URL of this page',
    returns: 'Code, title, status and meaning.',
    output: problemView,
    handle: ({ sandbox, params, controlUrl }) => {
      const problems = problemsOf(sandbox, controlUrl)
      const found = problems.find(({ code }) => code === params.code)
      if (found !== undefined) return { body: found }
      const codes = problems.map(({ code }) => code)
      const fix = '"workspace-emulator call GET /problems" lists every code.'
      return refuseUnknown('error code', params.code, codes, fix)
    },
  }),
] as const

function problemsOf(sandbox: Sandbox, controlUrl: string): ProblemView[] {
  const { service, settings } = sandbox
  const embedded = service.resources.flatMap((resource) => resource.problems?.(settings) ?? [])
  return [
    ...[...errorKinds].map(([code, kind]) => problemOf(code, kind, { settings, controlUrl })),
    ...embedded.map(({ code, title, status, description }) => ({
      code,
      type: problemType({ settings, controlUrl }, code),
      title,
      status,
      status_setting: null,
      retryable: false,
      meaning: description,
      mitigation: null,
    })),
  ]
}

function problemOf(own: string, kind: ErrorKind, at: ErrorTarget): ProblemView {
  const { settings } = at
  const { status, title, retryable, meaning, mitigation } = kind
  const code = shownCode(own, settings)
  return {
    code,
    type: problemType(at, code),
    title,
    status: typeof status === 'number' ? status : settings.get(status),
    status_setting: typeof status === 'number' ? null : status.key,
    retryable,
    meaning,
    mitigation: mitigation ?? null,
  }
}

function operationsOf(sandbox: Sandbox): OperationView[] {
  return [...sandbox.service.operations.values()].map((operation) => {
    const { name, method, path, summary, section, errorFormat, contract } = operation
    const { limit, window } = sandbox.limits.of(name)
    return {
      name,
      method,
      path,
      summary,
      section,
      errorFormat,
      contract,
      beta: operation.beta ?? false,
      idempotent: operation.idempotent ?? false,
      principal: operation.principal?.kind ?? null,
      success: successOf(operation, sandbox.settings),
      body_limit: operation.bodyLimit ?? sandbox.settings.get(bodyLimit),
      limit: { limit, window_s: window / 1000 },
    }
  })
}
