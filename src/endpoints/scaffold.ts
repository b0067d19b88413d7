import { ScenarioError } from '../adapters/scenarios/problem.ts'
import type { JsonObject } from '../core/json.ts'
import { contractedBy, endpointOf, pathProblem } from '../core/scenarios/stub.ts'
import type { EndpointDefinition } from './definition.ts'
import { builtIn, definitionsOf } from './openapi-file.ts'

type Endpoint = Pick<EndpointDefinition, 'method' | 'path'>

const VERBS = { GET: 'list', POST: 'create', PATCH: 'update', DELETE: 'delete', PUT: 'replace' } as const

/** The name of an endpoint: that of the specification, else its segments and a verb: `notes.list`, `notes.retrieve`. */
export function defaultName({ method, path }: Endpoint): string {
  const known = builtIn.find((each) => endpointOf(each) === endpointOf({ method, path }))
  const fixed = path.split('/').filter((each) => each !== '' && !each.startsWith('{'))
  const verb = method === 'GET' && path.endsWith('}') ? 'retrieve' : VERBS[method]
  return known?.name ?? [...fixed, verb].join('.')
}

/**
 * A script with one endpoint to start from, and its name. Throws a `ScenarioError` for an endpoint that has a contract, or that
 * the OpenAPI document does not have.
 */
export function scaffold(endpoint: Endpoint, from?: { readonly text: string; readonly file: string }) {
  const { method, path } = endpoint
  const refuse = (message: string, file = `${method} ${path}`): never => {
    throw new ScenarioError({ file, message })
  }
  const problem = pathProblem(path)
  if (problem !== undefined) refuse(problem, path)
  const operation = contractedBy(endpoint, builtIn)
  if (operation !== undefined)
    refuse(`is ${operation.name}, which has a contract; a fault rule can change its responses`)
  const described = from && definitionsOf(from.text, from.file)
  const found = described?.find((each) => endpointOf(each) === endpointOf(endpoint))
  const others = (described ?? []).slice(0, 20).map((each) => `${each.method} ${each.path}`)
  if (described !== undefined && found === undefined)
    refuse(
      `has no ${method} ${path} without a contract, but ${others.join(', ') || 'no other endpoint'}`,
      from?.file,
    )
  const { summary, query, body = /^P/.test(method) ? BODY : undefined, output, response } = found ?? {}
  const fields = Object.entries({ method, path, summary, query, body, output, response })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `    ${name}: ${JSON.stringify(value, null, 2).replaceAll('\n', '\n    ')},\n`)
  const answer = response === undefined ? `    ${answerOf(endpoint)}\n` : ''
  return { name: defaultName(endpoint), text: `${HEAD}${fields.join('')}${answer}  }),\n]\n` }
}

const BODY: JsonObject = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

const HEAD = `import { defineEndpoint } from 'agent-workspace-emulator'

// A schema is a JSON Schema, or one of zod, Valibot or ArkType. Keep data in records(): all sandboxes share a variable of this
// file, and no reset clears it. Use at, newId() and chance instead of Date.now, randomUUID and Math.random: a replay needs that.
export default [
  defineEndpoint({
`

function answerOf({ method, path }: Endpoint): string {
  const fixed = path.split('/').filter((each) => !each.startsWith('{'))
  const records = `records('${fixed.at(-1)?.replaceAll(/\W/g, '_').toLowerCase()}')`
  if (method === 'POST')
    return `handle: ({ body, records }) => ({ status: 201, body: ${records}.insert(body) }),`
  if (method !== 'GET' || path.endsWith('}')) return 'response: { status: 200, body: {} },'
  return `handle: ({ records, list }) => ({ body: list(${records}.all()) }),`
}
