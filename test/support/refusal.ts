import { expect } from 'vitest'
import type { TestEmulator, TestResponse } from './emulator.ts'

/** Asserts a client error in the standard body. Specification: Errors / Standard error body. */
export function expectStandardError(response: TestResponse, status?: number, code?: string): void {
  expect(response.status).toBeGreaterThanOrEqual(400)
  expect(response.status).toBeLessThan(500)
  if (status !== undefined) expect(response.status).toBe(status)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  const { body } = response
  expect(body).toEqual({
    status_code: response.status,
    statusCode: response.status,
    error: code ?? expect.stringMatching(/^[a-z0-9_]+$/),
    message: expect.stringMatching(/./),
    ...(Object.hasOwn(body, 'mitigation') ? { mitigation: expect.stringMatching(/./) } : {}),
    retryable: response.status === 429,
    details: expect.any(Object),
  })
}

/** Asserts the format of an error, and its status and code if they are given. */
type ExpectForm = (response: TestResponse, status?: number, code?: string) => void

/** Creates an assertion that a request is refused in some format and leaves the sandbox unchanged; it returns the response. */
export function refusedAs(expectForm: ExpectForm) {
  return async (
    emulator: TestEmulator,
    request: () => Promise<TestResponse>,
    status?: number,
    code?: string,
  ): Promise<TestResponse> => {
    const before = emulator.digest()
    const response = await request()
    expectForm(response, status, code)
    expect(emulator.digest()).toBe(before)
    return response
  }
}

/** Asserts that a request is refused in the standard body and leaves the sandbox unchanged; returns the response. */
export const refused = refusedAs(expectStandardError)

/** The pointers of all issues of a validation error. */
export function pointersOf(response: TestResponse): string[] {
  return response.body.details.errors.map(({ pointer }: { pointer: string }) => pointer)
}
