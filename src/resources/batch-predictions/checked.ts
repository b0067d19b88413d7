import * as z from 'zod'
import type { Issue } from '../../kernel/json.ts'
import type { Complain } from './items.ts'

/**
 * A schema around a check of our own: the value passes through as the check returns it, and every complaint becomes an
 * issue at its place. `describe` is the JSON Schema that documents it.
 */
export function checked<T>(
  check: (value: unknown, complain: Complain) => T,
  describe: Readonly<Record<string, unknown>>,
) {
  return z
    .unknown()
    .transform((input, context): T => {
      const before = context.issues.length
      const value = check(input, (path, message, custom_id) => {
        const params = custom_id === undefined ? {} : { params: { custom_id } }
        context.issues.push({ code: 'custom', message, input, path: [...path], ...params })
      })
      return context.issues.length > before ? z.NEVER : value
    })
    .meta(describe)
}

/** Complains of issues that name their places by JSON Pointer. */
export function complainAll(issues: readonly Issue[], complain: Complain): void {
  for (const { pointer, detail } of issues) complain(keysOf(pointer), detail)
}

// A pointer is '' for the whole, else every key follows a slash.
function keysOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}
