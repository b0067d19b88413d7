import { memoizeBySettings, type Settings } from '../../../core/assumptions.ts'
import { type ErrorFormat, errorFacts, Refusal, shownCode } from '../../../core/errors.ts'
import type { JsonObject } from '../../../core/json.ts'
import { type AnyOperation, codesOf, type Input, inputOf } from '../../../core/operation.ts'
import { successOf } from '../../../core/request/response.ts'
import type { Service } from '../../../core/service.ts'
import { NamedSchemas } from './named.ts'
import {
  challengeHeader,
  headerParameter,
  jsonBody,
  jsonSchema,
  license,
  pathParameters,
  pathsOf,
  queryParameters,
  ref,
  textHeader,
} from './parts.ts'

/**
 * The emulated API in OpenAPI 3.1, generated from its declared operations under the settings in force.
 * Every resource and every error has a separate schema under `components`.
 * `x-contract: false` marks an operation that the specification names without a contract, `x-beta` one that it marks as beta.
 */
export function workspaceDocument(
  service: Service,
  settings: Settings,
  contract: { readonly title: string; readonly version: string },
  server = '/v1',
): JsonObject {
  const { paths, schemas } = described(service.operations, settings)
  return {
    openapi: '3.1.0',
    info: {
      title: contract.title,
      version: contract.version,
      description: 'The API of the local emulator, under the settings in force.',
      license,
    },
    servers: [{ url: server }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A user-scoped key or a service key.' },
      },
      headers: HEADERS,
      schemas,
    },
  }
}

// Hundreds of schemas: they are created once for each choice of settings, and kept for the newest choices.
const described = memoizeBySettings((operations: Service['operations'], settings) => {
  const schemas = new NamedSchemas()
  const paths = pathsOf(
    [...operations.values()].map((operation) => ({
      path: operation.path,
      method: operation.method,
      item: itemOf(operation, settings, schemas),
    })),
  )
  return { paths, schemas: schemas.all }
})

function itemOf(operation: AnyOperation, settings: Settings, schemas: NamedSchemas): JsonObject {
  const { name, summary, section, path, pathPatterns, contract, beta, idempotent, accept, auth } = operation
  const input = inputOf(operation, settings)
  const { query, body } = input
  return {
    operationId: name,
    summary,
    description: `Specification: ${section}.`,
    tags: [name.split('.')[0] ?? name],
    ...(contract ? {} : { 'x-contract': false }),
    ...(beta === true ? { 'x-beta': true } : {}),
    ...(auth === false && { security: [] }),
    parameters: [
      ...pathParameters(path, pathPatterns),
      ...queryParameters(query, query && schemas.ofQuery(name, jsonSchema(query, 'input'))),
      ...(idempotent === true ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body !== undefined && {
      requestBody:
        accept === 'bytes'
          ? { content: { '*/*': {} } }
          : jsonBody(body, schemas.ofRequest(name, jsonSchema(body, 'input'))),
    }),
    responses: {
      ...success(operation, settings, schemas),
      ...errors(operation, settings, input, schemas),
    },
  }
}

function success(operation: AnyOperation, settings: Settings, schemas: NamedSchemas): JsonObject {
  const { name, output, media, contract } = operation
  const status = successOf(operation, settings)
  const headers = EVERY_RESPONSE
  if (status === 204) return { 204: { description: 'Done. There is no body.', headers } }
  const schema = output === undefined ? {} : schemas.ofResponse(name, jsonSchema(output(settings), 'output'))
  const description = contract ? 'Success.' : 'Success; the specification does not show the body.'
  if (media === undefined)
    return { [status]: { description, headers, content: { 'application/json': { schema } } } }
  return {
    [status]: {
      description: `${description} Each line of the text is one JSON value; empty lines have no meaning.`,
      headers,
      // A client gets the text. The schema is that of one line, because no keyword of OpenAPI 3.1 describes a sequence.
      content: {
        [media]: {
          schema: { type: 'string', format: 'binary', contentMediaType: media, contentSchema: schema },
        },
      },
    },
  }
}

function errors(
  operation: AnyOperation,
  settings: Settings,
  input: Input,
  schemas: NamedSchemas,
): JsonObject {
  const { errorFormat } = operation
  const byStatus = new Map<number, { readonly title: string; readonly schema: JsonObject }[]>()
  for (const code of codesOf(operation, input)) {
    const { kind, status } = errorFacts(new Refusal(code, { detail: '' }), settings)
    const shown = shownCode(code, settings)
    const described = {
      title: `${kind.title} (${shown})`,
      schema: schemas.ofError(shown, errorFormat, status, kind.title),
    }
    byStatus.set(status, [...(byStatus.get(status) ?? []), described])
  }
  const media = errorFormat === 'problem' ? 'application/problem+json' : 'application/json'
  const responses = [...byStatus].map(([status, codes]) => {
    const headers = { ...EVERY_RESPONSE, ...headersOf(status, errorFormat) }
    const [first] = codes
    const schema = codes.length === 1 ? first?.schema : { anyOf: codes.map((each) => each.schema) }
    const description = `${codes.map(({ title }) => title).join(', ')}.`
    return [String(status), { description, headers, content: { [media]: { schema } } }] as const
  })
  return {
    ...Object.fromEntries(responses),
    default: {
      description: 'Any other error, in the same form.',
      headers: EVERY_RESPONSE,
      content: {
        [media]: { schema: ref('schemas', errorFormat === 'problem' ? 'Problem' : 'StandardError') },
      },
    },
  }
}

const IDEMPOTENCY_KEY = headerParameter(
  'Idempotency-Key',
  'The same key with the same body gives the first response again, for 24 hours.',
  { type: 'string', minLength: 1, maxLength: 255 },
)

const integer = (description: string): JsonObject => ({
  description,
  required: true,
  schema: { type: 'integer', minimum: 0 },
})

const HEADERS: JsonObject = {
  'X-RateLimit-Limit': integer('Maximum number of requests in the window.'),
  'X-RateLimit-Remaining': integer('Number of requests that the window still admits.'),
  'X-RateLimit-Reset': integer('Unix epoch second at which a place becomes free.'),
  'Retry-After': {
    description: 'Whole seconds to wait; present when nothing remains.',
    schema: { type: 'integer', minimum: 1 },
  },
  'X-Emulator-Request-Id': textHeader('The id of the request in the request log of the emulator.'),
  'X-Emulator-Assumed': textHeader(
    'Ids of the assumptions that the status or the body relies on, separated by commas.',
  ),
}

// Any response may have Retry-After: the request may have used the last place of the window.
const EVERY_RESPONSE: JsonObject = Object.fromEntries(
  Object.keys(HEADERS).map((name) => [name, ref('headers', name)]),
)

// Specification: Limits / Rate limits.
function headersOf(status: number, format: ErrorFormat): JsonObject {
  if (status === 401) return { 'WWW-Authenticate': challengeHeader }
  if (status !== 429) return {}
  const wait: JsonObject = { ...(HEADERS['Retry-After'] as JsonObject), required: true }
  return { 'Retry-After': wait, ...(format === 'problem' && POLICY_HEADERS) }
}

const POLICY_HEADERS: JsonObject = {
  'RateLimit-Policy': textHeader(
    'The admission policy that refused the request; absent when the window of the endpoint did.',
  ),
  RateLimit: textHeader('The current state of that policy.'),
}
