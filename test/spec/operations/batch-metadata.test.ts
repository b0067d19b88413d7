import { expect, test } from 'vitest'
import { metadataSchema } from '../../../src/service/batch-predictions/schema.ts'
import { aBatch, batchEmulator, createBatch, pointersOf, refusedProblem } from '../../support/batches.ts'

const CREATE = '/batch-predictions'
const ASTRAL = '\u{1F600}'
const COMBINING = 'e\u0301'

test('sixteen metadata entries are accepted, seventeen are not', { tags: ['R273'] }, async () => {
  const emulator = await batchEmulator()
  const entries = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, '']))
  expect((await createBatch(emulator, { metadata: entries(16) })).metadata).toEqual(entries(16))
  expect((await createBatch(emulator, { metadata: {} })).metadata).toEqual({})
  const response = await refusedProblem(
    emulator,
    () => emulator.post(CREATE, aBatch({ metadata: entries(17) })),
    400,
  )
  expect(pointersOf(response)).toEqual(['/metadata'])
})

test.for([['x'], [ASTRAL], [COMBINING]])(
  'metadata keys of 64 and values of 512 code points (%s) are accepted, one more is not',
  { tags: ['R273'] },
  async ([unit = '']) => {
    const emulator = await batchEmulator()
    const long = (n: number) => unit.repeat(n / [...unit].length)
    const metadata = { [long(64)]: long(512) }
    expect((await createBatch(emulator, { metadata })).metadata).toEqual(metadata)
    for (const bad of [{ [`${long(64)}x`]: 'v' }, { k: `${long(512)}x` }]) {
      const response = await refusedProblem(
        emulator,
        () => emulator.post(CREATE, aBatch({ metadata: bad })),
        400,
      )
      expect(pointersOf(response)).toHaveLength(1)
    }
  },
)

test('metadata is returned unchanged, also with names like __proto__ and toString', {
  tags: ['R090'],
}, async () => {
  const emulator = await batchEmulator()
  const text =
    '{"__proto__":"p","constructor":"c","toString":"t","hasOwnProperty":"h","":"empty","\u{1F600}":"x"}'
  const raw = JSON.stringify(aBatch()).replace(/}$/, `,"metadata":${text}}`)
  const created = await emulator.request('POST', CREATE, { raw })
  expect(created.status).toBe(200)
  for (const place of [emulator, await emulator.restart()]) {
    const { text: response } = await place.get(`${CREATE}/${created.body.id}`)
    expect(JSON.stringify(JSON.parse(response).metadata)).toBe(JSON.stringify(JSON.parse(text)))
  }
  expect(({} as Record<string, unknown>).p).toBeUndefined()
})

test('a record keeps its metadata object, whatever its keys', { tags: ['R090'] }, () => {
  const metadata = JSON.parse('{"__proto__":"p"}')
  expect(Object.keys(metadataSchema().parse(metadata))).toEqual(['__proto__'])
})
