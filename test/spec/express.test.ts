import { describe } from 'vitest'
import { through } from '../support/through.ts'

// Bodies, lists and refusals. `npm run test:slow` runs the tests of all operations.
describe('three files through an Express router at a path', () =>
  through(
    'express',
    // @ts-expect-error Vite replaces this call.
    import.meta.glob('./operations/{batch-create,list-cursors,refusals}.test.ts', { query: '?express' }),
  ))
