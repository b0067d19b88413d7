import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { commandIn, temporaryDirectory, withError } from './in-process.ts'

const add = (folder: string, ...args: readonly string[]) => commandIn(folder, 'endpoints', 'add', ...args)

/** What a script exports, with a definition in the place of each call of `defineEndpoint`. */
function exported(folder: string, file: string): readonly Record<string, unknown>[] {
  const { code } = transformSync(readFileSync(join(folder, file), 'utf8'), { loader: 'ts', format: 'cjs' })
  const module = { exports: {} as { default?: Record<string, unknown>[] } }
  const require = () => ({ defineEndpoint: (definition: object) => definition })
  new Function('require', 'module', 'exports', code)(require, module, module.exports)
  return module.exports.default ?? []
}

test.for([
  ['POST', '/notes', 'notes.create', { body: { type: 'object' } }],
  ['get', '/notes', 'notes.list', {}],
  ['GET', '/notes/{id}', 'notes.retrieve', { response: { status: 200, body: {} } }],
  ['PUT', '/notes/{id}/tags', 'notes.tags.replace', { body: { type: 'object' } }],
  ['DELETE', '/notes/{id}', 'notes.delete', {}],
  ['POST', '/converse', 'converse.create', {}],
  ['GET', '/search', 'search.query', {}],
] as const)('%s %s is written to a file with its name', async ([method, path, name, fields]) => {
  const folder = temporaryDirectory()
  const { code, out, err } = await add(folder, method, path, '--endpoints', 'own/files')
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain(`own/files/${name}.ts written.`)
  const [definition, ...more] = exported(folder, `own/files/${name}.ts`)
  expect(definition).toMatchObject({ method: method.toUpperCase(), path, ...fields })
  expect(definition?.handle ?? definition?.response).toBeDefined()
  expect(more).toEqual([])
})

test('the emulator loads and runs what is written, also for paths that begin with neither a letter nor a name', async () => {
  const folder = temporaryDirectory()
  const paths = ['/_health', '/.well-known/x', '/_', '/404']
  for (const path of paths) expect(await add(folder, 'GET', path)).toMatchObject({ code: 0, err: '' })
  const files = ['404.list.ts', 'health.list.ts', 'list.ts', 'well-known.x.list.ts']
  expect(readdirSync(join(folder, 'endpoints')).sort()).toEqual(files)
  const emulator = await testEmulator({ endpoints: join(folder, 'endpoints') })
  for (const path of paths)
    expect(await emulator.get(path)).toMatchObject({ status: 200, body: { data: [] } })
})

test('an OpenAPI document gives the summary, the schemas and the example', async () => {
  const folder = temporaryDirectory()
  const text = `openapi: 3.1.0
paths:
  /notes:
    post:
      summary: Write a note
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Note' } } } }
      responses: { 201: { content: { application/json: { schema: { type: object }, example: { id: "it's" } } } } }
components: { schemas: { Note: { type: object, required: [text] } } }
`
  writeFileSync(join(folder, 'api.yaml'), text)
  expect(await add(folder, 'POST', '/notes', '--from', 'api.yaml')).toMatchObject({ code: 0, err: '' })
  expect(exported(folder, 'endpoints/notes.create.ts')).toEqual([
    {
      method: 'POST',
      path: '/notes',
      summary: 'Write a note',
      body: { $ref: '#/$defs/Note', $defs: { Note: { type: 'object', required: ['text'] } } },
      output: { type: 'object' },
      response: { status: 201, body: { id: "it's" } },
    },
  ])
  const missing = await add(folder, 'GET', '/notes', '--from', 'api.yaml')
  expect(missing.code).toBe(1)
  expect(missing.err).toContain('api.yaml: has no GET /notes without a contract, but POST /notes')
})

test('an existing file stays as it is', async () => {
  const folder = temporaryDirectory()
  await add(folder, 'GET', '/notes')
  writeFileSync(join(folder, 'endpoints/notes.list.ts'), 'mine')
  const { code, err } = await add(folder, 'GET', '/notes')
  expect(code).toBe(1)
  expect(err).toContain('endpoints/notes.list.ts cannot be written (EEXIST). If it exists, rename it')
  expect(readFileSync(join(folder, 'endpoints/notes.list.ts'), 'utf8')).toBe('mine')
})

test.for([
  ['POST /pages', 1, 'POST /pages: is pages.create, which has a contract'],
  ['GET notes', 1, 'notes: must begin with a slash, such as /search'],
  ['GET /v1/notes', 1, 'must be the path after /v1, the same for every sandbox: /notes'],
  ['GET /../../etc', 1, '/../../etc: must have no segment "..": clients resolve it'],
  ['GET /notes/%2E', 1, '/notes/%2E: must have no segment "%2E": clients resolve it'],
  ['HEAD /notes', 2, '<method>: "HEAD" is not one of GET, POST, PUT, PATCH, DELETE.'],
  ['GET /notes --from none.yaml', 1, 'none.yaml cannot be read (ENOENT)'],
] as const)('%s is refused and writes nothing', async ([line, exitCode, message]) => {
  const folder = temporaryDirectory()
  expect(await add(folder, ...line.split(' '))).toEqual(withError(exitCode, message))
  expect(readdirSync(folder)).toEqual([])
})
