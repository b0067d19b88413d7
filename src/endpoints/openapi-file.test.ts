import { expect, test } from 'vitest'
import { ScenarioError } from '../adapters/scenarios/problem.ts'
import { workspaceService } from '../emulator/service.ts'
import { definitionsOf as definitionsIn } from './openapi-file.ts'
import type { Checker } from './schema.ts'

const DOCUMENT = `openapi: 3.1.0
info: { title: Search, version: '1' }
paths:
  /search:
    parameters:
      - { name: query, in: query, required: true, schema: { type: string, minLength: 1 } }
    get:
      summary: Search everything
      security: []
      parameters:
        - $ref: '#/components/parameters/limit'
        - { name: exact, in: query, schema: { type: boolean } }
        - { name: trace, in: header, schema: { type: string } }
      responses:
        '400': { description: wrong }
        '200':
          description: found
          content:
            application/json:
              schema: { type: array, items: { $ref: '#/components/schemas/Hit' } }
              examples:
                one: { $ref: '#/components/examples/one' }
                two: { value: [] }
  /v1/notes:
    post:
      requestBody:
        required: true
        content:
          application/vnd.notes+json; charset=utf-8:
            schema: { $ref: '#/components/schemas/Hit' }
      responses:
        201: { description: written, content: { application/json: { schema: { $ref: '#/components/schemas/Hit' } } } }
    delete:
      responses: { '204': { description: gone } }
  /pages:
    post: { responses: {} }
  /skills/{id}/promote:
    post: { responses: {} }
components:
  parameters:
    limit: { name: limit, in: query, schema: { $ref: '#/components/schemas/Limit' } }
  examples:
    one: { value: [{ title: Plan }] }
  schemas:
    Limit: { type: integer }
    Hit:
      type: object
      properties: { title: { type: string }, children: { type: array, items: { $ref: '#/components/schemas/Hit' } } }
      required: [title]
`

const definitionsOf = (text: string, file: string) => definitionsIn(text, file, workspaceService)

const named = (method: string, path: string, text = DOCUMENT, file = 'endpoints/search.yaml') =>
  definitionsOf(text, file).find((each) => each.method === method && each.path === path)

const pointersOf = (schema: Checker | undefined, value: unknown): string[] => {
  const result = schema?.check(value)
  return result !== undefined && 'issues' in result ? result.issues.map(({ pointer }) => pointer) : []
}

test('each operation without a contract is a definition with its example and line', () => {
  expect(definitionsOf(DOCUMENT, 'endpoints/search.yaml')).toMatchObject([
    {
      method: 'GET',
      path: '/search',
      summary: 'Search everything',
      auth: false,
      responses: [{ status: 200, body: [{ title: 'Plan' }] }],
      example: true,
      source: { file: 'endpoints/search.yaml', line: 7 },
    },
    { method: 'POST', path: '/notes', source: { line: 25 } },
    { method: 'DELETE', path: '/notes', responses: [{ status: 204 }], source: { line: 33 } },
  ])
})

test('a query is checked as text, and a body by its schema and those that it refers to', () => {
  const query = named('GET', '/search')?.query
  expect(pointersOf(query, { query: 'a', limit: '5', exact: 'true', other: 'x' })).toEqual([])
  expect(pointersOf(query, { query: '', limit: 'many', exact: '1' })).toEqual(['/query', '/limit', '/exact'])
  expect(pointersOf(query, {})).toEqual(['/query'])
  const body = named('POST', '/notes')?.body
  expect(pointersOf(body, { title: 'a', children: [{ title: 'b', children: [{}] }] })).toEqual([
    '/children/0/children/0/title',
  ])
  expect(named('GET', '/search')?.output?.jsonSchema).toMatchObject({
    type: 'array',
    $defs: { Hit: { type: 'object' } },
  })
})

test('an operation without an example has a 501 that names the schema and the command', () => {
  const note = named('POST', '/notes')
  expect(note?.responses).toBeUndefined()
  expect(note?.unanswered).toBe(
    'endpoints/search.yaml has no example of #/components/schemas/Hit. Add one, or write the endpoint: workspace-emulator endpoints add POST /notes --from endpoints/search.yaml',
  )
})

test('a document in JSON gives the same definitions, with its own lines', () => {
  const content = { 'application/json': { example: null, schema: { example: 5 } } }
  const paths = { '/search': { get: { responses: { default: { content } } } } }
  const value = JSON.stringify({ openapi: '3.0.3', paths }, null, 2)
  expect(definitionsOf(value, 'a.json')).toMatchObject([
    { responses: [{ status: 200, body: 5 }], source: { line: 5 } },
  ])
})

test('schemas of OpenAPI 3.0 become those of JSON Schema', () => {
  const schema = (extra: string) => `openapi: 3.0.3
paths: { /notes: { post: { requestBody: { content: { application/json: { schema: ${extra} } } }, responses: {} } } }`
  const body = (extra: string) => named('POST', '/notes', schema(extra))?.body
  expect(pointersOf(body('{ type: string, nullable: true, enum: [a] }'), null)).toEqual([])
  expect(pointersOf(body('{ type: number, minimum: 1, exclusiveMinimum: true }'), 1)).toEqual([''])
  expect(pointersOf(body('{ type: number, maximum: 1, exclusiveMaximum: false }'), 1)).toEqual([])
})

const json = (fields: object) => JSON.stringify({ openapi: '3.1.0', ...fields })
const deep = (open: string, close: string, times: number) => open.repeat(times) + close.repeat(times)
const path = (name: string) => `openapi: 3.1.0\npaths:\n  ${name}`
const responding = (schema: string) =>
  path(
    `/search:\n    get: { responses: { '200': { content: { application/json: { schema: ${schema} } } } } }\n`,
  )
const paths = (count: number, operations: object) =>
  json({ paths: Object.fromEntries(Array.from({ length: count }, (_, n) => [`/a${n}`, operations])) })
const A = { content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } }
const REPEATED = JSON.stringify({
  ...JSON.parse(paths(900, { post: { requestBody: { $ref: '#/components/requestBodies/A' } } })),
  components: { requestBodies: { A }, schemas: { A: { description: 'a'.repeat(500_000) } } },
})
const LOOP =
  "components: { schemas: { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } } }"
const NESTED = /^1: is nested more than 100 levels/

/** A document, its message after the name of the file, and the extension of its file. */
const HOSTILE: Readonly<Record<string, readonly [text: string, message: RegExp, extension?: string]>> = {
  'an empty file': ['', /^1: \/openapi: must be 3.0 or 3.1/],
  'OpenAPI 3.2': ['info: {}\nopenapi: 3.2.0', /^2: \/openapi: must be/],
  'paths in a list': ['openapi: 3.1.0\npaths: []', /^2: \/paths: must be an object/],
  'an alias': ['a: &a [x]\nb: [*a, *a]', /^1: has the anchor &a; write plain YAML/],
  'an alias without its anchor': ['a: 1\nb: *a', /^2: has the alias \*a/],
  'a tag of JavaScript': ['a: 1\nb: !!js/function "() => 1"', /^2: has the tag !!js\/function/],
  'a directive': ['%YAML 1.1\n---\na: yes', /^1: has the directive-line %YAML 1.1/],
  'two documents': ['a: 1\n---\nb: 2', /^1: must have one document/],
  'a mistake of YAML': ['a: 1\nb: [', /^2: is not YAML: /],
  'a mistake of JSON': ['{\n"a": tru}', /^2: is not JSON/, 'json'],
  'a value as a key': ['a: 1\n? [b]\n: c', /^2: is not YAML: /],
  'closed lists in 5,000 levels': [deep('[', ']', 5_000), NESTED],
  'a list in a list in one line': [`${'- '.repeat(100_000)}a`, NESTED],
  'keys of keys': [`${'? '.repeat(100_000)}a`, NESTED],
  'JSON in 200 levels': [json({ x: JSON.parse(deep('[', ']', 200)) }), /^1: is nested more than/, 'json'],
  'a text of 5 MB': [`"${'a'.repeat(5_000_000)}"`, /^1: has more than 1000000 characters/, 'json'],
  '1,001 paths': [paths(1_001, {}), /^1: \/paths: has more than 1000 paths/, 'json'],
  '450,000 commas': [`[${','.repeat(450_000)}]`, /^1: is too long for YAML; convert it to JSON/],
  'a path that is no template': [path('/a/{b}.json:\n    get: {}'), /^3: \/paths\/~1a~1\{b\}.json: has "/],
  'a path without a slash': [path('search: { get: {} }'), /^3: \/paths\/search: must begin with a slash/],
  'a $ref to another file': [
    responding('{ $ref: "other.yaml#/Hit" }'),
    /^4: \/paths\/~1search\/get: \$ref "other.yaml#\/Hit" leads out of the file/,
  ],
  'a $ref to /etc/passwd': [path('/search: { $ref: /etc/passwd }'), /^3: .*leads out of the file/],
  'a $ref without a target': [responding('{ $ref: "#/components/schemas/Hit" }'), /^4: .*has no target/],
  'a $ref with a broken escape': [responding('{ $ref: "#/%E0%A4%A" }'), /^4: .*has no target/],
  'a $ref that leads back to itself': [
    responding('{ $ref: "#/components/schemas/A" }') + LOOP,
    /^4: .*leads back to itself/,
  ],
  'a prototype as a target': [responding('{ $ref: "#/constructor/prototype" }'), /^4: .*has no target/],
  'schemas that are repeated for each path': [REPEATED, /^1: .*more than 10000000 characters/, 'json'],
}

test.each(Object.entries(HOSTILE))('%s has its file and line', (_, [text, message, extension = 'yaml']) => {
  const definitions = () => definitionsOf(text, `a.${extension}`)
  expect(definitions).toThrow(ScenarioError)
  expect(definitions).toThrow(new RegExp(message.source.replace('^', `^a.${extension}:`)))
})

test('names of JavaScript are names like any other', () => {
  const schema = '{"__proto__": {"type": "object", "required": ["toString"]}}'
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/__proto__' } } }
  const text = json({ paths: { '/search': { post: { requestBody: { content } } } }, components: 0 })
  const [definition] = definitionsOf(
    text.replace('"components":0', `"components":{"schemas":${schema}}`),
    'a.json',
  )
  expect(pointersOf(definition?.body, {})).toEqual(['/toString'])
  expect(pointersOf(definition?.body, JSON.parse('{"toString":1}'))).toEqual([])
  expect(({} as { type?: unknown }).type).toBeUndefined()
})
