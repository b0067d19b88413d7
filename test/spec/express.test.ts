import { afterAll, beforeAll, describe } from 'vitest'
import { useTransport } from '../support/transport.ts'

// The tests of the operations once more: supertest sends their requests to the Express application instead of node:http. With a
// query a file is a module of its own, which declares its tests again. `TEST_TRANSPORT=express` does so for any other file.
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
