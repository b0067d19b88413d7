import { Ajv2020 } from 'ajv/dist/2020.js'
import { type } from 'arktype'
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { JsonObject } from '../../src/core/json.ts'
import { defineEndpoint } from '../../src/endpoints/define.ts'
import { testEmulator } from '../support/emulator.ts'
import { folderWith, put } from '../support/endpoint-folder.ts'

interface Tree {
  readonly name: string
  readonly children: readonly Tree[]
}
const tree: z.ZodType<Tree> = z.object({ name: z.string(), children: z.array(z.lazy(() => tree)) })

const endpoints = [
  defineEndpoint({ method: 'PUT', path: '/tree', body: tree, output: tree, response: {} }),
  defineEndpoint({
    ...{ method: 'POST', path: '/tree', body: type({ name: 'string' }), response: {} },
    ...{ summary: 'Plant a tree', idempotent: true },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/tree',
    query: { properties: { depth: { $ref: '#/$defs/depth' } }, $defs: { depth: { enum: ['1', '2'] } } },
    output: {
      type: 'object',
      properties: {
        object: { const: 'list' },
        data: { type: 'array', items: { $ref: '#/$defs/row' } },
      },
      $defs: { row: { type: 'object', properties: { parent: { $ref: '#/$defs/row' } } } },
    },
    response: {},
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/tree',
    body: { $ref: '#node', $defs: { node: { $anchor: 'node', type: 'object' } } },
    response: {},
  }),
  defineEndpoint({ method: 'POST', path: '/files', accept: 'bytes', auth: false, response: {} }),
]

/** The references of a document that have no target in it. */
function dangling(document: JsonObject): string[] {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref = '']) => ref)
  const target = (ref: string) =>
    ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document)
  const found = (ref: string) => ref.startsWith('#/') && target(ref) !== undefined
  return references.filter((ref) => !found(ref))
}

test('each reference in the schemas of a user has a target in the OpenAPI document', async () => {
  const emulator = await testEmulator({ endpoints })
  const { body } = await emulator.control('GET', '/openapi.json?api=workspace')
  expect(dangling(body)).toEqual([])
  const { put: replace, get, patch } = body.paths['/tree']
  const bodyOf = ({ requestBody }: typeof replace) => requestBody.content['application/json'].schema
  expect(bodyOf(replace)).toEqual({ $ref: '#/components/schemas/TreeReplaceRequest' })
  expect(JSON.stringify(body.components.schemas.TreeReplaceRequest)).toContain('TreeReplaceRequest')
  expect(get.parameters[0].schema).toEqual({ $ref: '#/components/schemas/TreeListQuery/$defs/depth' })
  expect(body.components.schemas.TreeUpdateRequest).toEqual({})
  expect(bodyOf(patch)).toEqual({ $ref: '#/components/schemas/TreeUpdateRequest' })
  expect(body.paths['/files'].post).toMatchObject({ security: [], requestBody: { content: { '*/*': {} } } })
  // A validator follows each reference when it compiles the schema.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false }).addSchema(
    body,
    'document',
  )
  for (const name of Object.keys(body.components.schemas))
    expect(ajv.getSchema(`document#/components/schemas/${name}`), name).toBeDefined()
})

test('the OpenAPI document has the name, the summary, the errors and the header of keys of an operation', async () => {
  const emulator = await testEmulator({ endpoints })
  const { paths, components } = (await emulator.control('GET', '/openapi.json?api=workspace')).body
  const { post, put } = paths['/tree']
  expect(post).toMatchObject({ operationId: 'tree.create', summary: 'Plant a tree' })
  expect(Object.keys(post.responses)).toEqual(expect.arrayContaining(['200', '400', '401', '429']))
  expect(components.schemas.TreeCreateRequest).toMatchObject({ properties: { name: { type: 'string' } } })
  expect(post.parameters).toContainEqual(expect.objectContaining({ name: 'Idempotency-Key' }))
  expect(JSON.stringify(put)).not.toContain('Idempotency-Key')
})

test('the OpenAPI document is that of the present files', async () => {
  const file = (path: string) => `export default { method: 'GET', path: '${path}', response: {} }\n`
  const folder = folderWith({ 'a.js': file('/first') })
  const emulator = await testEmulator({ endpoints: folder })
  const pathsNow = async () =>
    Object.keys((await emulator.control('GET', '/openapi.json?api=workspace')).body.paths)
  expect(await pathsNow()).toContain('/first')
  put(folder, { 'a.js': file('/second') })
  await emulator.control('GET', '/endpoints')
  const paths = await pathsNow()
  expect([paths.includes('/first'), paths.includes('/second')]).toEqual([false, true])
})
