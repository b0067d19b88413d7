import * as z from 'zod'
import { didYouMean } from '../../../core/assumptions.ts'
import { bodyLimit } from '../../../core/core-assumptions.ts'
import { catalog, type ErrorCode, type ErrorKind, errorTypeBase, refuse } from '../../../core/errors.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { controlDocument } from '../openapi/control.ts'
import { workspaceDocument } from '../openapi/workspace.ts'
import { meanings } from '../problem-meanings.ts'
import { route } from '../route.ts'

const which = () => z.strictObject({ api: z.enum(['control', 'workspace']).default('control') })

/** What there is to call, and what answers mean. */
export const referenceRoutes = [
  route({
    name: 'operations.list',
    method: 'GET',
    path: '/operations',
    summary: 'List the operations of the emulated API',
    answers: 'Each operation as data, with its limits in force.',
    handle: ({ sandbox }) => ({ body: { object: 'list', data: operationsOf(sandbox) } }),
  }),
  route({
    name: 'openapi',
    method: 'GET',
    path: '/openapi.json',
    summary: 'Describe this interface, or with api=workspace the emulated API, in OpenAPI 3.1',
    answers: 'An OpenAPI document.',
    query: which,
    handle: ({ host, sandbox, routes, query }) => ({
      body:
        query.api === 'workspace'
          ? workspaceDocument(host.service, sandbox.settings, host.contract)
          : controlDocument(routes, sandbox.settings, host),
    }),
  }),
  route({
    name: 'problems.list',
    method: 'GET',
    path: '/problems',
    summary: 'List every error code of the emulated API',
    answers: 'Code, title, status and meaning of each.',
    handle: ({ sandbox }) => ({
      body: { object: 'list', data: problemsOf(sandbox) },
    }),
  }),
  route({
    name: 'problems.show',
    method: 'GET',
    path: '/problems/{code}',
    summary: 'Explain one error code; the type of a problem leads here',
    answers: 'Code, title, status and meaning.',
    handle: ({ sandbox, params }) => {
      const problems = problemsOf(sandbox)
      const found = problems.find(({ code }) => code === params.code)
      if (found !== undefined) return { body: found }
      const codes = problems.map(({ code }) => code)
      return refuse('not_found', {
        detail: `There is no error code "${params.code}".${didYouMean(params.code, codes)}`,
        mitigation: 'GET /__emulator/problems lists every code.',
      })
    },
  }),
] as const

const CODES = Object.keys(catalog) as ErrorCode[]

function problemsOf(sandbox: Sandbox) {
  const { service, settings } = sandbox
  const embedded = service.resources.flatMap((resource) => resource.problems?.(settings) ?? [])
  return [
    ...CODES.map((code) => problemOf(sandbox, code)),
    ...embedded.map(({ code, title, status, description }) => ({
      code,
      type: `${settings.get(errorTypeBase)}/${code}`,
      title,
      status,
      status_setting: null,
      retryable: false,
      meaning: description,
      mitigation: null,
    })),
  ]
}

function problemOf({ settings }: Sandbox, code: ErrorCode) {
  const { status, title, retryable, mitigation }: ErrorKind = catalog[code]
  return {
    code,
    type: `${settings.get(errorTypeBase)}/${code}`,
    title,
    status: typeof status === 'number' ? status : settings.get(status),
    status_setting: typeof status === 'number' ? null : status.key,
    retryable,
    meaning: meanings[code] ?? title,
    mitigation: mitigation ?? null,
  }
}

function operationsOf(sandbox: Sandbox) {
  return [...sandbox.service.operations.values()].map((operation) => {
    const { name, method, path, summary, section, errorFormat, contract } = operation
    const { limit, window } = sandbox.limitOf(name)
    const { success } = operation
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
      success: typeof success === 'number' ? success : sandbox.settings.get(success),
      body_limit: operation.bodyLimit ?? sandbox.settings.get(bodyLimit),
      limit: { limit, window_s: window / 1000 },
    }
  })
}
