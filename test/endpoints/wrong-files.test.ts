import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { folderWith, put } from '../support/endpoint-folder.ts'

const get = (path: string, more = 'response: { body: {} }') =>
  defined(`method: 'GET', path: '${path}', ${more}`)
const defined = (fields: string) => `import { defineEndpoint } from 'agent-workspace-emulator'
export default defineEndpoint({ ${fields} })
`
const GOOD = get('/good')

const VALIDATOR = "{ '~standard': { version: 1, vendor: 'x', validate: async () => ({ value: 1 }) } }"
const TWICE =
  "['a', 'b'].map((id) => ({ method: 'PUT', path: '/x/{' + id + '}', match: { query: { id } }, response: {} }))"

const x = (fields: string) => get('/x', fields)
const post = (path: string) => defined(`method: 'POST', path: '${path}', response: {}`)

/** A definition with one mistake, and what its problem says after file and line. */
const MISTAKES: readonly (readonly [title: string, text: string, problem: RegExp])[] = [
  ['contracted path', post('/pages'), /\/path: is pages\.create, which has a contract/],
  [
    'name of a contracted operation',
    x("name: 'pages.create', response: {}"),
    /the name pages\.create, as POST \/pages/,
  ],
  ['a default name that is contracted', post('/{team}/pages'), /the name pages\.create, as POST \/pages has/],
  ['unknown method', GOOD.replace("'GET'", "'GOT'"), /\/method: must be one of "GET"/],
  ['path with the version', get('/v1/x'), /\/path: must be the path after \/v1/],
  ['path without a slash', get('x'), /\/path: must begin with a slash/],
  ['path with a query', get('/x?a=1'), /\/path: must have no query/],
  ['one parameter twice', get('/{id}/{id}'), /\/path: has \{id\} twice/],
  ['unknown field', x('respones: {}'), /\/respones: is not a known field. Did you mean "response"/],
  ['no response', x("summary: 'x'"), /must have exactly one of handle, response and responses/],
  ['two ways to respond', x('response: {}, handle: () => ({})'), /must have exactly one of/],
  ['async function', x('handle: async () => ({})'), /\/handle: must be neither async nor a generator/],
  ['generator', x('*handle() {}'), /\/handle: must be neither async nor a generator/],
  ['body of a GET', x("body: { type: 'object' }, response: {}"), /\/body: must be absent/],
  ['schema that is none', x("query: 'text', response: {}"), /\/query: must be a schema/],
  ['JSON Schema that is wrong', x("output: { type: 'objekt' }, response: {}"), /\/output: must be a schema/],
  ['schema that returns a promise', x(`query: ${VALIDATOR}, response: {}`), /\/query: .*promise/],
  ['status out of range', x('response: { status: 99 }'), /\/response\/status: must be an integer from 200/],
  [
    'header of the emulator',
    x("response: { headers: { Date: '1' } }"),
    /\/response\/headers\/Date: cannot be set/,
  ],
  ['body and stream', x('response: { body: {}, stream: { lines: [] } }'), /stream/],
  [
    'stream of two forms',
    x('response: { stream: { lines: [], events: [] } }'),
    /must have exactly one of events, lines and chunks/,
  ],
  ['match without a condition', x('match: {}, response: {}'), /\/match: must have at least one of/],
  [
    'idempotent stream',
    x('idempotent: true, response: { stream: { lines: [] } }'),
    /\/idempotent: must be false/,
  ],
  [
    'two of one method and path',
    get('/good'),
    /GET \/good is defined at .*good\.ts:2 too, with the same match/,
  ],
  [
    'one name for two paths',
    get('/good/{id}/x', "name: 'good.list', response: {}"),
    /GET \/good\/\{id\}\/x has the name good\.list, as GET \/good has; give it another "name"/,
  ],
  [
    'two of one path that differ in auth',
    get('/good', "auth: false, match: { query: { a: '1' } }, response: {}"),
    /GET \/good .*another "auth"/,
  ],
]

const WRONG: readonly (readonly [title: string, text: string, problem: RegExp, file?: string])[] = [
  ...MISTAKES.map(
    ([title, text, problem]) => [title, text, new RegExp(`x\\.ts:2:.*${problem.source}`)] as const,
  ),
  ['syntax error', 'export default {{', /x\.ts:1:\d+: ParseError/],
  ['empty', ' \n', /x\.ts: is empty/],
  ['no default export', 'export const a = 1', /x\.ts: has no default export/],
  ['throws when it is loaded', "\nthrow new Error('boom')", /x\.ts:2:\d+: boom/],
  ['missing import', "import './none'\nexport default {}", /x\.ts.*none/],
  [
    'one path with two names of its parameter',
    `export default ${TWICE}`,
    /x\.js: PUT \/x\/\{b\} is defined at .*x\.js too, with another "path"/,
    'x.js',
  ],
  ['OpenAPI of another version', '{"openapi": "2.0"}', /x\.json.*must be 3\.0 or 3\.1/, 'x.json'],
]

test.for(WRONG.map(([title, text, problem, file = 'x.ts']) => ({ title, file, text, problem })))(
  'a file that is wrong is refused with its place, and the last valid ones stay: $title',
  async ({ file, text, problem }) => {
    const folder = folderWith({ 'good.ts': GOOD })
    const emulator = await testEmulator({ endpoints: folder })
    const before = emulator.digest()
    put(folder, { [file]: text, 'new.ts': get('/new') })
    const { body } = await emulator.control('GET', '/endpoints')
    expect(body.problems.join('\n')).toMatch(problem)
    expect(body.generation).toBe(1)
    expect((await emulator.get('/good')).status).toBe(200)
    expect((await emulator.get('/new')).status).toBe(404)
    expect(emulator.digest()).toBe(before)
  },
)

const writes = (body: string) => `handle: ({ records }) => { records('n').insert({}); ${body} }`

const FAILING: readonly (readonly [title: string, handle: string, message: RegExp])[] = [
  ['throws after a write', writes("throw new Error('boom')"), /x\.ts:2:(\d+:)? .*boom/],
  ['returns a promise', writes('return Promise.resolve({})'), /x\.ts.*returned a promise/],
  ['returns nothing', writes(''), /must return an object/],
  ['returns a Map as body', writes('return { body: new Map() }'), /not JSON/],
  ['returns a wrong status', writes('return { status: 700 }'), /\/status must be an integer from 200 to 599/],
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
