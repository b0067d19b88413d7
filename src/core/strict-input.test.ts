import { expect, test } from 'vitest'
import { z } from 'zod'
import { either, form, mapOf, strictObject } from './strict-input.ts'

const times = strictObject({ times: z.int().default(3) })

test('a value with several forms has the defaults of the form that it has', () => {
  const schema = either('must be an object or a list', form.object(times), form.list(z.array(times)))
  expect(schema.parse({})).toEqual({ times: 3 })
  expect(schema.parse([{}, { times: 1 }])).toEqual([{ times: 3 }, { times: 1 }])
})

test('the values of a map have their defaults, under any name', () => {
  const given = JSON.parse('{"__proto__": {}, "b": {"times": 1}}')
  expect(JSON.stringify(mapOf(times).parse(given))).toBe('{"__proto__":{"times":3},"b":{"times":1}}')
})
