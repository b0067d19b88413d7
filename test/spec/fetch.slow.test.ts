import { describe } from 'vitest'
import { through } from '../support/through.ts'

// For the files of another folder, set `TEST_TRANSPORT=fetch`.
describe('all operations through emulator.fetch', () =>
  // @ts-expect-error Vite replaces this call.
  through('fetch', import.meta.glob('./operations/*.test.ts', { query: '?fetch' })))
