import type { AnyOperation } from '../../core/operation.ts'

/**
 * The operation of a rate window, read from its key. A key is a teamspace, then the name of the operation or a method and a
 * concrete path. Teamspace ids may contain blanks, so the key is read from its end.
 */
export function operationOf(key: string, operations: Iterable<AnyOperation>): AnyOperation | undefined {
  for (const operation of operations) {
    if (key.endsWith(` ${operation.name}`)) return operation
    // The path of a request begins with the base path, which templates do not have.
    const path = operation.path.replaceAll(/[^\w/{}]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/]+')
    if (new RegExp(` ${operation.method} /(?:\\S*/)?v1${path}$`).test(key)) return operation
  }
  return undefined
}
