import { ScenarioError } from '../adapters/scenarios/problem.ts'
import type { JsonObject } from '../core/json.ts'
import { contractClash, endpointOf, pathProblem, type StubRoute } from '../core/scenarios/stub.ts'
import type { Service } from '../core/service.ts'
import { defaultName } from './definition.ts'
import { definitionsOf } from './openapi-file.ts'

/**
 * A script with one endpoint to start from, and the name of its file. Throws a `ScenarioError` for an endpoint that has a
 * contract, or that the OpenAPI document does not have.
 */
export function scaffold(
  route: StubRoute,
  service: Service,
  from?: { readonly text: string; readonly file: string },
): { readonly name: string; readonly text: string } {
  const { method, path } = route
  const refuse = (message: string, file = `${method} ${path}`): never => {
    throw new ScenarioError({ file, message })
  }
  const problem = pathProblem(path)
  if (problem !== undefined) refuse(problem, path)
  const [clash] = contractClash(route, service, 'no endpoint of your own replaces it')
  if (clash !== undefined) refuse(clash.message)
  const described = from && definitionsOf(from.text, from.file, service)
  const found = described?.find((each) => endpointOf({ ...each, match: undefined }) === endpointOf(route))
  const others = (described ?? []).slice(0, 20).map((each) => `${each.method} ${each.path}`)
  if (described !== undefined && found === undefined)
    refuse(
      `has no ${method} ${path} without a contract, but ${others.join(', ') || 'no other endpoint'}`,
      from?.file,
    )
  const body = found?.body?.jsonSchema ?? (/^P/.test(method) ? BODY : undefined)
  const [response] = found?.responses ?? []
  const { query, output, summary } = found ?? {}
  const fields = {
    method,
    path,
    summary,
    query: query?.jsonSchema,
    body,
    output: output?.jsonSchema,
    response,
  }
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `    ${name}: ${JSON.stringify(value, null, 2).replaceAll('\n', '\n    ')},\n`)
  const handle = response === undefined ? `    ${handleOf(route)}\n` : ''
  // Files that begin with "_" are not loaded.
  const name = defaultName(route, service).replace(/^[_.]+/, '')
  return { name, text: `${HEAD}${lines.join('')}${handle}  }),\n]\n` }
}

const BODY: JsonObject = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

const HEAD = `import { defineEndpoint } from 'agent-workspace-emulator'

// A schema is a JSON Schema, or one of zod, Valibot or ArkType. Keep data in records(): all sandboxes share a variable of this
// file, and no reset clears it. Use at, newId() and chance() instead of Date.now, randomUUID and Math.random: a replay needs that.
export default [
  defineEndpoint({
`

function handleOf({ method, path }: StubRoute): string {
  const fixed = path.split('/').filter((each) => !each.startsWith('{'))
  const [name = 'records'] = /[a-z].*/i.exec(fixed.at(-1) ?? '') ?? []
  const records = `records('${name.replaceAll(/\W/g, '_').toLowerCase()}')`
  if (method === 'POST')
    return `handle: ({ body, records }) => ({ status: 201, body: ${records}.insert(body) }),`
  if (method !== 'GET' || path.endsWith('}')) return 'response: { status: 200, body: {} },'
  return `handle: ({ records, list }) => ({ body: list(${records}.all()) }),`
}
