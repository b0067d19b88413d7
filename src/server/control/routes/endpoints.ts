import { z } from 'zod'
import { problemLine } from '../../../adapters/scenarios/problem.ts'
import { list, listOf, type ShapeOf } from '../../../core/fields.ts'
import type { Definition } from '../../../endpoints/definition.ts'
import { route } from '../route.ts'

/** One definition of the user. */
const endpointView = () =>
  z.strictObject({
    /** Of its operation. */
    name: z.string(),
    method: z.string(),
    path: z.string(),
    summary: z.string().nullable(),
    /** What responds: a function, data, or the example of an OpenAPI document. */
    kind: z.enum(['function', 'data', 'example']),
    /** `file:line`. */
    place: z.string(),
    /** Whether it is only for certain requests. */
    matches: z.boolean(),
    /** Whether OpenAPI has a schema of its request and its response; `any`: its library cannot say. */
    query: z.enum(['schema', 'any', 'none']),
    body: z.enum(['schema', 'any', 'none']),
    output: z.enum(['schema', 'any', 'none']),
  })

export type EndpointView = ShapeOf<typeof endpointView>

const endpointList = () =>
  listOf(endpointView()).extend({
    /** How often the files have been loaded and replaced together; 0 without endpoints. */
    generation: z.int(),
    /** What is wrong with the present files, as `file:line: message`. The last valid ones are then in force. */
    problems: z.array(z.string()),
    /** What breaks a replay, or crosses sandboxes. */
    warnings: z.array(z.string()),
  })

/** The endpoints of the user. */
export const endpointRoutes = [
  route('GET /endpoints', {
    name: 'endpoints.list',
    summary: 'List your own endpoints, with the problems of their files',
    returns: 'Every definition in force with its place, the problems of the present files, and warnings.',
    output: endpointList,
    handle: async ({ host: { endpoints } }) => {
      // What has been saved counts, also before the watch of files notices it.
      await endpoints.refresh()
      const { definitions, generation, problems, warnings } = endpoints
      const notes = { problems: problems.map(problemLine), warnings: warnings.map(problemLine) }
      return { body: { ...list(definitions.map(viewOf)), generation, ...notes } }
    },
  }),
] as const

function viewOf(definition: Definition): EndpointView {
  const { name, method, path, summary = null, match, handle, example, query, body, output } = definition
  const schema = (of: typeof query) =>
    of === undefined ? 'none' : of.jsonSchema === undefined ? 'any' : 'schema'
  return {
    ...{ name, method, path, summary },
    kind: handle !== undefined ? 'function' : example === true ? 'example' : 'data',
    place: problemLine({ ...definition.source, message: '' }),
    matches: match !== undefined,
    query: schema(query),
    body: schema(body),
    output: schema(output),
  }
}
