import { memoizeBySettings, type Settings } from '../../../core/assumptions.ts'
import type { JsonObject } from '../../../core/json.ts'
import { DEFAULT_SANDBOX, NAME_PATTERN, NAME_RULE } from '../../../core/sandboxes/name.ts'
import type { ControlHost } from '../host.ts'
import { type AnyControlRoute, BASE, controlInput, SMALL_BODY } from '../route.ts'
import {
  challengeHeader,
  errorSchemas,
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

/** The control interface in OpenAPI 3.1, generated from its routes under the settings in force. */
export function controlDocument(
  routes: readonly AnyControlRoute[],
  settings: Settings,
  { version, contract, token }: Pick<ControlHost, 'version' | 'contract' | 'token'>,
): JsonObject {
  const isLocked = token !== undefined
  const { Problem: _, ...schemas } = errorSchemas()
  return {
    openapi: '3.1.0',
    info: {
      title: `Emulator of the ${contract.title}: control interface`,
      version,
      description: `The emulated interface has the version ${contract.version}. ${CHOICE}`,
      license,
    },
    servers: [
      { url: BASE, description: 'The sandbox that the header names, otherwise the default one.' },
      {
        url: `/@{sandbox}${BASE}`,
        description: `The sandbox that the path names. ${NAME}`,
        variables: { sandbox: { default: DEFAULT_SANDBOX } },
      },
    ],
    // Without a token any request is accepted, also one with a token, which a generated client may send to any emulator.
    security: isLocked ? [{ token: [] }] : [{}, { token: [] }],
    paths: (isLocked ? lockedPaths : openPaths)(routes, settings),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The control token. Not an API key.' },
      },
      parameters: { Sandbox: SANDBOX, IfMatch: IF_MATCH },
      headers: { ETag: ETAG },
      responses: refusalResponses(isLocked),
      schemas,
    },
  }
}

// Hundreds of schemas: they are created once for each choice of settings, and kept for the newest choices.
const pathsWhere = (isLocked: boolean) =>
  memoizeBySettings((routes: readonly AnyControlRoute[], settings) =>
    pathsOf(routes.map((route) => ({ ...route, item: itemOf(route, settings, isLocked) }))),
  )

const [openPaths, lockedPaths] = [pathsWhere(false), pathsWhere(true)]

const NAME = `Name of a sandbox: ${NAME_RULE}.`

const CHOICE =
  'A request is about the sandbox that its path names, otherwise about the one that its header X-Emulator-Sandbox names, otherwise about the default one. A sandbox is created when a request first names it.'

const SANDBOX = headerParameter(
  'X-Emulator-Sandbox',
  `The sandbox of the request, if its path names none. ${NAME}`,
  { type: 'string', pattern: NAME_PATTERN.source, default: DEFAULT_SANDBOX },
)

const IF_MATCH = headerParameter(
  'If-Match',
  'ETag that the record must still have; * matches any existing record.',
)

const ETAG = textHeader('The entity tag of the record, for If-Match.')

function itemOf(route: AnyControlRoute, settings: Settings, isLocked: boolean): JsonObject {
  const { name, method, summary, path, withoutSandbox, probe, conditional, bounds = SMALL_BODY } = route
  const { query, body } = controlInput(route, settings)
  return {
    operationId: name,
    summary,
    tags: [name.split('.')[0] ?? name],
    ...(probe === true ? { security: [] } : {}),
    parameters: [
      ...pathParameters(path),
      ...queryParameters(query),
      ...(withoutSandbox === true ? [] : [ref('parameters', 'Sandbox')]),
      ...(conditional === true ? [ref('parameters', 'IfMatch')] : []),
    ],
    ...(body === undefined || method === 'GET'
      ? {}
      : { requestBody: { description: `At most ${bounds.bytes} bytes.`, ...jsonBody(body) } }),
    responses: { ...refusals(route, isLocked), ...done(route, settings) },
  }
}

function done(
  { success = [200], returns: description, media = 'application/json', output, tagged }: AnyControlRoute,
  settings: Settings,
): JsonObject {
  const headers = tagged === true ? { headers: { ETag: ref('headers', 'ETag') } } : {}
  const content = (schema: JsonObject) => ({ description, ...headers, content: { [media]: { schema } } })
  return Object.fromEntries(
    success.map((status) => {
      if (status === 204) return [status, { description }]
      if (media !== 'application/json') return [status, content({ type: 'string' })]
      const schema = jsonSchema(output(settings), 'output')
      return [status, content(status < 400 ? schema : { anyOf: [schema, ref('schemas', 'StandardError')] })]
    }),
  )
}

const REFUSALS = {
  400: { name: 'BadRequest', when: 'The request is malformed, or breaks a rule of its fields.' },
  401: { name: 'Unauthorized', when: 'The control token is missing or wrong.' },
  403: { name: 'Forbidden', when: 'The request has a foreign Host, or comes from a page of another site.' },
  404: { name: 'NotFound', when: 'No object has this name or id.' },
  409: { name: 'Conflict', when: 'The state of the sandbox does not allow this.' },
  412: { name: 'PreconditionFailed', when: 'The record does not have the ETag of If-Match any more.' },
  413: { name: 'PayloadTooLarge', when: 'The body is larger than the route accepts.' },
  415: { name: 'UnsupportedMediaType', when: 'The body is not JSON.' },
  default: { name: 'Refused', when: 'Any other refusal; nothing has changed.' },
} as const

// The refusals that follow from the declaration; `default` covers the refusals of the handler.
function refusals(
  { method, path, probe, withoutSandbox, conditional }: AnyControlRoute,
  isLocked: boolean,
): JsonObject {
  const present: Readonly<Record<keyof typeof REFUSALS, boolean>> = {
    400: true,
    401: isLocked && probe !== true,
    403: true,
    404: path.includes('{'),
    409: withoutSandbox !== true,
    412: conditional === true,
    413: method !== 'GET',
    415: method !== 'GET',
    default: true,
  }
  const entries = Object.entries(REFUSALS).filter(([status]) => present[status as keyof typeof present])
  return Object.fromEntries(entries.map(([status, { name }]) => [status, ref('responses', name)]))
}

function refusalResponses(isLocked: boolean): JsonObject {
  const possible = Object.entries(REFUSALS).filter(([status]) => isLocked || status !== '401')
  const content = { 'application/json': { schema: ref('schemas', 'StandardError') } }
  return Object.fromEntries(
    possible.map(([status, { name, when: description }]) => {
      const headers = status === '401' ? { headers: { 'WWW-Authenticate': challengeHeader } } : {}
      return [name, { description, ...headers, content }]
    }),
  )
}
