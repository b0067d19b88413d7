import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

const output_schema = {
  type: 'object',
  additionalProperties: false,
  required: ['vendor', 'total', 'due', 'lines'],
  properties: {
    vendor: { type: 'string', minLength: 3, maxLength: 40 },
    total: { type: 'number', minimum: 0, multipleOf: 0.01 },
    currency: { enum: ['EUR', 'USD'] },
    due: { type: 'string', format: 'date' },
    contact: { type: ['string', 'null'], format: 'email' },
    lines: {
      type: 'array',
      minItems: 1,
      maxItems: 4,
      items: {
        type: 'object',
        properties: { code: { type: 'string', pattern: '^[A-Z]{2}-\\d{3}$' } },
        required: ['code'],
      },
    },
  },
}

test('a batch of 5,000 items has a valid line for each item, until its results are removed', {
  tags: ['R100', 'R213', 'R215', 'R281'],
}, async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  const created = await emulator.post('/batch-predictions', { ...batchBody(5_000), output_schema })
  expect(created.body.request_counts).toMatchObject({ total: 5_000, processing: 5_000 })
  emulator.advance('24h')
  const path = `/batch-predictions/${created.body.id}`
  expect((await emulator.get(path)).body).toMatchObject({
    status: 'completed',
    request_counts: { succeeded: 5_000, processing: 0 },
  })

  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  const isValid = ajv.compile(output_schema)
  const lines = (await emulator.get(`${path}/results`)).text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toHaveLength(5_000)
  expect(new Set(lines.map(({ custom_id }) => custom_id)).size).toBe(5_000)
  expect(lines.filter(({ output }) => !isValid(output))).toEqual([])

  emulator.advance('29d')
  expect((await emulator.get(`${path}/results`)).status).toBe(410)
  expect((await emulator.get(path)).body).toMatchObject({ status: 'completed', results_url: null })
})
