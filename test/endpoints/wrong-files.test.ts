import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { folderWith, put } from '../support/endpoint-folder.ts'

const get = (path: string, more = '') => `import { defineEndpoint } from 'agent-workspace-emulator'
export default defineEndpoint({ method: 'GET', path: '${path}', ${more || 'response: { body: {} }'} })
`
const GOOD = get('/good')
const openapi = (paths: unknown) =>
  JSON.stringify({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths })
const answer = (schema: unknown) => ({
  get: { responses: { 200: { content: { 'application/json': { schema } } } } },
})

/** Files that are refused when they are loaded: their text, and what the problem says. */
const WRONG: readonly (readonly [title: string, file: string, text: string, problem: RegExp])[] = [
  ['syntax error', 'x.ts', 'export default {{', /x\.ts:1:\d+: ParseError/],
  ['empty', 'x.ts', ' \n', /x\.ts: is empty/],
  ['no default export', 'x.ts', 'export const a = 1', /x\.ts: has no default export/],
  ['throws when it is loaded', 'x.ts', "\nthrow new Error('boom')", /x\.ts:2:\d+: boom/],
  ['missing import', 'x.ts', "import './none'\nexport default {}", /x\.ts.*none/],
  [
    'contracted path',
    'x.ts',
    `import { defineEndpoint } from 'agent-workspace-emulator'\nexport default defineEndpoint({ method: 'POST', path: '/pages', response: {} })`,
    /x\.ts:2:.*\/path: is pages\.create, which has a contract/,
  ],
  [
    'name of a contracted operation',
    'x.ts',
    get('/x', "name: 'pages.create', response: {}"),
    /x\.ts:2: GET \/x has the name pages\.create, as POST \/pages has; give it another "name"/,
  ],
  ['unknown method', 'x.ts', GOOD.replace("'GET'", "'GOT'"), /x\.ts:2:.*\/method: must be one of "GET"/],
  ['path with the version', 'x.ts', get('/v1/x'), /x\.ts:2:.*\/path: must be the path after \/v1/],
  ['path without a slash', 'x.ts', get('x'), /x\.ts:2:.*\/path: must begin with a slash/],
  ['path with a query', 'x.ts', get('/x?a=1'), /x\.ts:2:.*\/path: must have no query/],
  ['one parameter twice', 'x.ts', get('/{id}/{id}'), /x\.ts:2:.*\/path: has \{id\} twice/],
  [
    'unknown field',
    'x.ts',
    get('/x', 'respones: {}'),
    /x\.ts:2:.*\/respones: is not a known field. Did you mean "response"/,
  ],
  [
    'no response',
    'x.ts',
    get('/x', "summary: 'x'"),
    /x\.ts:2:.*must have exactly one of handle, response and responses/,
  ],
  [
    'two ways to respond',
    'x.ts',
    get('/x', 'response: {}, handle: () => ({})'),
    /x\.ts:2:.*must have exactly one of/,
  ],
  [
    'async function',
    'x.ts',
    get('/x', 'handle: async () => ({})'),
    /x\.ts:2:.*\/handle: must be neither async nor a generator/,
  ],
  [
    'generator',
    'x.ts',
    get('/x', '*handle() {}'),
    /x\.ts:2:.*\/handle: must be neither async nor a generator/,
  ],
  [
    'body of a GET',
    'x.ts',
    get('/x', "body: { type: 'object' }, response: {}"),
    /x\.ts:2:.*\/body: must be absent/,
  ],
  [
    'schema that is none',
    'x.ts',
    get('/x', "query: 'text', response: {}"),
    /x\.ts:2:.*\/query: must be a schema/,
  ],
  [
    'JSON Schema that is wrong',
    'x.ts',
    get('/x', "output: { type: 'objekt' }, response: {}"),
    /x\.ts:2:.*\/output: must be a schema/,
  ],
  [
    'schema that returns a promise',
    'x.ts',
    get(
      '/x',
      "query: { '~standard': { version: 1, vendor: 'x', validate: async () => ({ value: 1 }) } }, response: {}",
    ),
    /x\.ts:2:.*\/query: .*promise/,
  ],
  [
    'status out of range',
    'x.ts',
    get('/x', 'response: { status: 99 }'),
    /x\.ts:2:.*\/response\/status: must be an integer from 200 to 599/,
  ],
  [
    'header of the emulator',
    'x.ts',
    get('/x', "response: { headers: { 'Content-Length': '1' } }"),
    /x\.ts:2:.*\/response\/headers\/Content-Length: cannot be set/,
  ],
  ['body and stream', 'x.ts', get('/x', 'response: { body: {}, stream: { lines: [] } }'), /x\.ts:2:.*stream/],
  [
    'stream of two forms',
    'x.ts',
    get('/x', 'response: { stream: { lines: [], events: [] } }'),
    /x\.ts:2:.*must have exactly one of events, lines and chunks/,
  ],
  [
    'match without a condition',
    'x.ts',
    get('/x', 'match: {}, response: {}'),
    /x\.ts:2:.*\/match: must have at least one of/,
  ],
  [
    'idempotent stream',
    'x.ts',
    get('/x', 'idempotent: true, response: { stream: { lines: [] } }'),
    /x\.ts:2:.*\/idempotent: must be false/,
  ],
  [
    'two of one method and path',
    'x.ts',
    get('/good'),
    /GET \/good is defined at .*good\.ts:2 too, with the same match/,
  ],
  [
    'a default name that a contracted operation has',
    'x.ts',
    GOOD.replace("'GET'", "'POST'").replace('/good', '/{team}/pages'),
    /x\.ts:2: POST \/\{team\}\/pages has the name pages\.create, as POST \/pages has/,
  ],
  [
    'one name for two paths',
    'x.ts',
    get('/good/{id}/x', "name: 'good.list', response: {}"),
    /x\.ts:2: GET \/good\/\{id\}\/x has the name good\.list, as GET \/good has; give it another "name"/,
  ],
  [
    'one path with two names of its parameter',
    'x.js',
    "export default ['a', 'b'].map((id) => ({ method: 'PUT', path: '/x/{' + id + '}', match: { query: { id } }, response: {} }))",
    /x\.js: PUT \/x\/\{b\} is defined at .*x\.js too, with another "path"/,
  ],
  [
    'two of one path that differ in auth',
    'x.ts',
    get('/good', "auth: false, match: { query: { a: '1' } }, response: {}"),
    /x\.ts:2: GET \/good .*another "auth"/,
  ],
  ['OpenAPI with a circle of references', 'x.json', openapi({ '/x': { $ref: '#/paths/~1x' } }), /x\.json/],
  [
    'OpenAPI of another version',
    'x.json',
    JSON.stringify({ openapi: '2.0', paths: {} }),
    /x\.json.*must be 3\.0 or 3\.1/,
  ],
  [
    'hostile YAML',
    'x.yaml',
    `a: &a [x, x]\n${Array.from({ length: 30 }, (_, n) => `b${n}: &b${n} [${n === 0 ? '*a, *a' : `*b${n - 1}, *b${n - 1}`}]`).join('\n')}\n`,
    /x\.yaml/,
  ],
  [
    '5 MB of paths',
    'x.json',
    openapi(
      Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`/p${n}`, answer({ type: 'object' })])),
    ),
    /x\.json.*(?:characters|paths)/,
  ],
]

test.for(WRONG.map(([title, file, text, problem]) => ({ title, file, text, problem })))(
  'a file that is wrong is refused with its place, and the last valid ones stay: $title',
  { timeout: 30_000 },
  async ({ file, text, problem }) => {
    const folder = folderWith({ 'good.ts': GOOD })
    const emulator = await testEmulator({ endpoints: folder })
    const before = emulator.digest()
    put(folder, { [file]: text })
    const { body } = await emulator.control('GET', '/endpoints')
    expect(body.problems.join('\n')).toMatch(problem)
    expect(body.generation).toBe(1)
    expect((await emulator.get('/good')).status).toBe(200)
    expect(emulator.digest()).toBe(before)
  },
)

/** Functions that fail when they are called, and what the response says. */
const FAILING: readonly (readonly [title: string, handle: string, message: RegExp])[] = [
  [
    'throws after a write',
    "handle({ records }) { records('n').insert({}); throw new Error('boom') }",
    /x\.ts:2: ?\d*:? ?.*boom|x\.ts:2:\d+: boom/,
  ],
  [
    'returns a promise',
    "handle: ({ records }) => { records('n').insert({}); return Promise.resolve({}) }",
    /x\.ts.*returned a promise/,
  ],
  ['returns nothing', "handle({ records }) { records('n').insert({}) }", /must return an object/],
  [
    'returns a Map as body',
    "handle: ({ records }) => { records('n').insert({}); return { body: new Map() } }",
    /not JSON/,
  ],
  [
    'returns a wrong status',
    "handle: ({ records }) => { records('n').insert({}); return { status: 700 } }",
    /\/status must be an integer from 200 to 599/,
  ],
  [
    'writes a Date',
    "handle: ({ records }) => ({ body: records('n').insert({ at: new Date(0) }) })",
    /\/at is a Date; write toISOString\(\)/,
  ],
  [
    'writes a record that does not fit',
    "handle: ({ records }) => ({ body: records('pages').insert({ nane: 'x' }) })",
    /x\.ts:2.*does not fit pages/,
  ],
  [
    'writes an id that exists',
    "handle({ records }) { records('n').insert({ id: '1' }); records('n').insert({ id: '1' }); return {} }",
    /already has a record/,
  ],
  [
    'names a collection badly',
    "handle: ({ records }) => ({ body: records('$faults').all() })",
    /cannot be the name of a collection/,
  ],
  [
    'refuses with a status of success',
    "handle: ({ refuse }) => refuse(200, 'x', 'y')",
    /needs a status from 400 to 599/,
  ],
]

test.for(FAILING.map(([title, handle, message]) => ({ title, handle, message })))(
  'a function that fails gets a 500 with its place, and nothing is written: it $title',
  async ({ handle, message }) => {
    const emulator = await testEmulator({ endpoints: folderWith({ 'x.ts': get('/x', handle) }) })
    const before = emulator.digest()
    const { status, body, text } = await emulator.get('/x')
    expect([status, body.message]).toEqual([500, expect.stringMatching(message)])
    expect(text).not.toContain('    at ')
    expect(emulator.digest()).toBe(before)
  },
)
