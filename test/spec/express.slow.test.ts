import { describe } from 'vitest'
import { through } from '../support/through.ts'

// For the files of another folder, set `TEST_TRANSPORT=express`.
describe('all operations through an Express router at a path', () =>
  // @ts-expect-error Vite replaces this call.
  through('express', import.meta.glob('./operations/*.test.ts', { query: '?express' })))
