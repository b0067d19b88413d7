import { afterAll, beforeAll, describe } from 'vitest'
import { useTransport } from '../support/transport.ts'

// Runs the tests of the operations again: supertest sends their requests to the Express application instead of node:http.
// With a query, a file is a separate module that declares its tests again. For other files, set `TEST_TRANSPORT=express`.
// @ts-expect-error Vite replaces this call.
const files: Record<string, () => Promise<unknown>> = import.meta.glob('./operations/*.test.ts', {
  query: '?express',
})

let restore = (): void => {}
beforeAll(() => {
  restore = useTransport('express')
})
afterAll(() => restore())

for (const [file, load] of Object.entries(files)) {
  describe(file, async () => {
    await load()
  })
}
