import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { folderWith } from '../support/endpoint-folder.ts'

/** A library as a user installs it, and the same schemas in it. */
interface Library {
  /** Folders of `node_modules` here, by their names in the project of the user. */
  readonly packages: Readonly<Record<string, string>>
  /** The start of the versions of the first of them. */
  readonly version: string
  readonly imports: string
  readonly body: string
  readonly query: string
  /** What OpenAPI says about a field of the body; undefined where the library cannot say it. */
  readonly described: unknown
}

const TEXT = { type: 'string', minLength: 2 }

const ZOD = { imports: "import * as z from 'zod'", query: 'z.object({ page: z.coerce.number().int() })' }
const ZOD_4 = 'z.strictObject({ text: z.string().min(2), tags: z.array(z.string()) })'
const VALIBOT = {
  packages: { valibot: 'valibot' },
  version: '1.',
  imports: "import * as v from 'valibot'",
  body: 'v.strictObject({ text: v.pipe(v.string(), v.minLength(2)), tags: v.array(v.string()) })',
  query: 'v.object({ page: v.pipe(v.string(), v.transform(Number), v.integer()) })',
  described: undefined,
}

const LIBRARIES: Readonly<Record<string, Library>> = {
  'zod 3': {
    ...{ ...ZOD, packages: { zod: 'zod3' }, version: '3.' },
    body: 'z.object({ text: z.string().min(2), tags: z.array(z.string()) }).strict()',
    described: undefined,
  },
  'zod 4': { ...ZOD, packages: { zod: 'zod' }, version: '4.', body: ZOD_4, described: TEXT },
  'zod 4 in the package of zod 3': {
    ...{ ...ZOD, packages: { zod: 'zod3' }, version: '3.', body: ZOD_4 },
    imports: "import * as z from 'zod/v4'",
    described: undefined,
  },
  Valibot: VALIBOT,
  'Valibot with its converter': {
    ...VALIBOT,
    packages: { ...VALIBOT.packages, '@valibot/to-json-schema': '@valibot/to-json-schema' },
    imports: `${VALIBOT.imports}\nimport { toStandardJsonSchema } from '@valibot/to-json-schema'`,
    body: `toStandardJsonSchema(${VALIBOT.body})`,
    described: TEXT,
  },
  ArkType: {
    packages: Object.fromEntries(
      ['arktype', '@ark/schema', '@ark/util', 'arkregex'].map((name) => [name, name]),
    ),
    version: '2.',
    imports: "import { type } from 'arktype'",
    body: "type({ '+': 'reject', text: 'string >= 2', tags: 'string[]' })",
    query: "type({ page: 'string.integer.parse' })",
    described: TEXT,
  },
}

const endpoints = ({
  imports,
  body,
  query,
}: Library) => `import { defineEndpoint } from 'agent-workspace-emulator'
${imports}

export default [
  defineEndpoint({ method: 'POST', path: '/notes', body: ${body}, handle: ({ body, records }) => ({ status: 201, body: records('notes').insert(body) }) }),
  defineEndpoint({ method: 'GET', path: '/notes', query: ${query}, handle: ({ query }) => ({ body: { next: query.page + 1 } }) }),
]
`

/** Sends good and bad requests, and prints the responses. Under \`exec\` to its emulator, otherwise to one that it starts. */
const CLIENT = `import { startEmulator, connect } from 'agent-workspace-emulator'

const isGiven = process.argv[2] === 'given'
const emulator = isGiven
  ? await startEmulator({ port: 0, ephemeral: true, endpoints: (await import('./given.mjs')).default })
  : connect(process.env.WORKSPACE_EMULATOR_URL)
if (!isGiven) await emulator.ready()
const sandbox = emulator.defaultSandbox
const send = async (path, json) => {
  const response = await sandbox.fetch(path, json === undefined ? {} : { json })
  return { status: response.status, body: await response.json() }
}
const pointers = ({ status, body }) => [status, ...body.details.errors.map(({ pointer }) => pointer).sort()]
const document = await (await fetch(emulator.controlUrl + '/openapi.json?api=workspace')).json()
const { schema: given } = document.paths['/notes'].post.requestBody.content['application/json']
const schema = document.components.schemas[given.$ref?.split('/').at(-1)] ?? given
console.log(JSON.stringify({
  made: await send('/notes', { text: 'ab', tags: ['c'] }),
  wrong: pointers(await send('/notes', { text: 'a', tags: ['b', 5], more: 1 })),
  none: pointers(await send('/notes', {})),
  page: await send('/notes?page=41'),
  query: pointers(await send('/notes?page=x')),
  schema: schema.properties?.text ?? null,
  records: (await sandbox.state.list('notes')).length,
}))
if (isGiven) await emulator.close()
`

function project(library: Library): string {
  const source = endpoints(library)
  const folder = folderWith({
    'package.json': '{ "type": "module" }',
    'client.mjs': CLIENT,
    'endpoints/notes.ts': source,
    'given.mjs': source,
  })
  const modules = join(folder, 'node_modules')
  for (const [name, from] of Object.entries(library.packages)) {
    mkdirSync(join(modules, name, '..'), { recursive: true })
    cpSync(resolve('node_modules', from), join(modules, name), { recursive: true, dereference: true })
  }
  symlinkSync(resolve('.'), join(modules, 'agent-workspace-emulator'), 'junction')
  return folder
}

const run = promisify(execFile)

test.for(
  Object.entries(LIBRARIES).flatMap(([name, library]) =>
    ['files', 'given'].map((form) => ({ name, form, library })),
  ),
)(
  '$name from the node_modules of the user, as $form: requests are checked, and OpenAPI has what the library can say',
  { timeout: 120_000 },
  async ({ form, library }) => {
    const cwd = project(library)
    const [first = ''] = Object.keys(library.packages)
    const installed = JSON.parse(readFileSync(join(cwd, 'node_modules', first, 'package.json'), 'utf8'))
    expect(installed.version.startsWith(library.version)).toBe(true)
    const client = ['client.mjs', form]
    const args =
      form === 'given' ? client : [resolve('dist/cli.js'), 'exec', '--', process.execPath, ...client]
    const { stdout } = await run(process.execPath, args, { cwd })
    const line = stdout.split('\n').find((each) => each.startsWith('{')) ?? '{}'
    expect(JSON.parse(line)).toEqual({
      made: { status: 201, body: { id: expect.any(String), text: 'ab', tags: ['c'] } },
      wrong: [400, '/more', '/tags/1', '/text'],
      none: [400, '/tags', '/text'],
      page: { status: 200, body: { next: 42 } },
      query: [400, '/query/page'],
      schema: library.described ?? null,
      records: 1,
    })
  },
)
