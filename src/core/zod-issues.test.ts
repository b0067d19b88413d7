import { expect, test } from 'vitest'
import { z } from 'zod'
import { parsed, UNCOMPILED, zodIssues } from './zod-issues.ts'

const schema = z.strictObject({
  access: z.enum(['open', 'closed']),
  type: z.literal('page'),
  like: z.literal([1, -1], { error: 'in words of its own' }),
})

test('a missing choice is required, and the message for a wrong one lists the choices', () => {
  expect(zodIssues(schema.safeParse({ like: 0 }).error as z.ZodError, '')).toEqual([
    { pointer: '/access', detail: 'is required' },
    { pointer: '/type', detail: 'is required' },
    { pointer: '/like', detail: 'in words of its own' },
  ])
  expect(zodIssues(schema.safeParse({ access: 'half', type: 1, like: 1 }).error as z.ZodError, '')).toEqual([
    { pointer: '/access', detail: 'must be one of "open", "closed"' },
    { pointer: '/type', detail: 'must be "page"' },
  ])
})

test('a type that JSON does not have has the word of JSON Schema', () => {
  const schema = z.strictObject({ count: z.int(), names: z.record(z.string(), z.string()) })
  const { error } = schema.safeParse({ count: 1.5, names: 7 })
  const types = [...zodIssues(error as z.ZodError, '')].map(({ detail }) => detail)
  expect(types).toEqual(['integer', 'object'].map((type) => `must be of the type ${type}, not number`))
})

test.for<[what: string, value: unknown]>([
  ['fits', { access: 'open', type: 'page', like: 1 }],
  ['has a wrong, a missing and an unknown field', { access: 'half', like: 1, more: 1 }],
  ['is no object', []],
])('a value that %s has the same result with a schema that is not compiled', ([, value]) => {
  const [usual, uncompiled] = [parsed(schema, value), parsed(schema, value, UNCOMPILED)]
  expect([uncompiled.data, uncompiled.error?.issues]).toEqual([usual.data, usual.error?.issues])
})
