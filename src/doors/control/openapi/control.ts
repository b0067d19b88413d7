import type { Settings } from '../../../kernel/assumptions.ts'
import type { JsonObject } from '../../../kernel/json.ts'
import type { ControlHost } from '../host.ts'
import { type AnyRoute, BASE } from '../route.ts'
import {
  fieldError,
  jsonBody,
  pathParameters,
  pathsOf,
  queryParameters,
  ref,
  standardError,
} from './parts.ts'

/** The control interface in OpenAPI 3.1, generated from its routes under the settings in force. */
export function controlDocument(
  routes: readonly AnyRoute[],
  settings: Settings,
  { version, contract, token }: Pick<ControlHost, 'version' | 'contract' | 'token'>,
): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title: `Emulator of the ${contract.title}: control interface`,
      version,
      description: `The emulated interface has the version ${contract.version}.`,
    },
    servers: [{ url: BASE }],
    ...(token === undefined ? {} : { security: [{ token: [] }] }),
    paths: pathsOf(routes.map((route) => ({ ...route, item: itemOf(route, settings) }))),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The control token. Not an API key.' },
      },
      schemas: { StandardError: standardError, FieldError: fieldError },
    },
  }
}

function itemOf(route: AnyRoute, settings: Settings): JsonObject {
  const { name, summary, answers, path, query, body, success = [200] } = route
  const done = success.map((status) => [
    String(status),
    status === 204
      ? { description: answers }
      : { description: answers, content: { 'application/json': { schema: { type: 'object' } } } },
  ])
  return {
    operationId: name,
    summary,
    tags: [name.split('.')[0] ?? name],
    parameters: [...pathParameters(path), ...queryParameters(query?.())],
    ...(body === undefined ? {} : { requestBody: jsonBody(body(settings)) }),
    responses: { ...Object.fromEntries(done), default: REFUSED },
  }
}

const REFUSED: JsonObject = {
  description: 'The request is refused, and nothing has changed.',
  content: { 'application/json': { schema: ref('schemas', 'StandardError') } },
}
