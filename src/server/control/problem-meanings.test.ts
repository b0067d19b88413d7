import { expect, test } from 'vitest'
import { catalog } from '../../core/errors.ts'
import { meanings } from './problem-meanings.ts'

test('every error code has a meaning, and every meaning a code', () => {
  expect(Object.keys(meanings).sort()).toEqual(Object.keys(catalog).sort())
})
