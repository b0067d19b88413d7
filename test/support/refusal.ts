import { expect } from 'vitest'
import type { TestAnswer, TestEmulator } from './emulator.ts'

/** Asserts a client error in the standard body. Specification: Errors / Standard error body. */
export function expectStandardError(answer: TestAnswer, status?: number, code?: string): void {
  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect(answer.status).toBeLessThan(500)
  if (status !== undefined) expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  const { body } = answer
  expect(body).toEqual({
    status_code: answer.status,
    statusCode: answer.status,
    error: code ?? expect.stringMatching(/^[a-z0-9_]+$/),
    message: expect.stringMatching(/./),
    ...(Object.hasOwn(body, 'mitigation') ? { mitigation: expect.stringMatching(/./) } : {}),
    retryable: answer.status === 429,
    details: expect.any(Object),
  })
}

/** Asserts the form of an error, and its status and code where they are given. */
type ExpectForm = (answer: TestAnswer, status?: number, code?: string) => void

/** Makes the assertion that a request is refused in some form and leaves the sandbox as it was; it hands the answer on. */
export function refusedAs(expectForm: ExpectForm) {
  return async (
    emulator: TestEmulator,
    request: () => Promise<TestAnswer>,
    status?: number,
    code?: string,
  ): Promise<TestAnswer> => {
    const before = emulator.digest()
    const answer = await request()
    expectForm(answer, status, code)
    expect(emulator.digest()).toBe(before)
    return answer
  }
}

/** Asserts that a request is refused in the standard body and leaves the sandbox as it was; hands the answer on. */
export const refused = refusedAs(expectStandardError)

/** The pointers of everything that a validation error complains about. */
export function pointersOf(answer: TestAnswer): string[] {
  return answer.body.details.errors.map(({ pointer }: { pointer: string }) => pointer)
}
