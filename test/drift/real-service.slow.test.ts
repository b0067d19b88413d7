import { expect, test } from 'vitest'
import { planted, testPlanted } from './planted.ts'

test('there are ten of them', () => expect(planted).toHaveLength(10))

testPlanted(planted)
