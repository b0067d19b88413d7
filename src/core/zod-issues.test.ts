import { expect, test } from 'vitest'
import { z } from 'zod'
import { parsed, UNCOMPILED, zodIssues } from './zod-issues.ts'

const FIT = { access: 'open', type: 'page', like: 1 }
const IS_PAGE = '/type must be "page"'
const NOT_NUMBER = ['integer', 'object'].map((type) => ` must be of the type ${type}, not number`)
const schema = z.strictObject({
  access: z.enum(['open', 'closed']),
  type: z.literal('page'),
  like: z.literal([1, -1], { error: 'in words of its own' }),
})

const types = z.strictObject({ count: z.int(), names: z.record(z.string(), z.string()) })

test.for<[what: string, schema: z.ZodType, value: object, issues: string[]]>([
  ['missing', schema, { like: 0 }, ['/access is required', '/type is required', '/like in words of its own']],
  [
    'wrong',
    schema,
    { ...FIT, access: 'half', type: 1 },
    ['/access must be one of "open", "closed"', IS_PAGE],
  ],
  [
    'of another type',
    types,
    { count: 1.5, names: 7 },
    ['/count', '/names'].map((at, n) => at + NOT_NUMBER[n]),
  ],
])('a field that is %s has its message', (given) => {
  const [, schema, value, issues] = given
  const found = zodIssues(schema.safeParse(value).error as z.ZodError, '')
  expect([...found].map(({ pointer, detail }) => `${pointer} ${detail}`)).toEqual(issues)
})

test.for<[what: string, value: unknown]>([
  ['fits', FIT],
  ['has a wrong, a missing and an unknown field', { access: 'half', like: 1, more: 1 }],
  ['is no object', []],
])('a value that %s has the same result with a schema that is not compiled', ([, value]) => {
  const [usual, uncompiled] = [parsed(schema, value), parsed(schema, value, UNCOMPILED)]
  expect([uncompiled.data, uncompiled.error?.issues]).toEqual([usual.data, usual.error?.issues])
})
